// Time for intervals.
#pragma once
#include <chrono>

namespace reprise::bench {

inline double now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

}  // namespace reprise::bench
