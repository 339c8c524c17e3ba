// Time for intervals.
#pragma once
#include <chrono>

namespace reprise::bench {

inline double now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

/// Milliseconds that a call takes.
template <class F>
double ms_of(F&& f) {
  const double begin = now_us();
  f();
  return (now_us() - begin) / 1e3;
}

}  // namespace reprise::bench
