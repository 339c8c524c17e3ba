// Rows whose elements may lie apart, as pieces of neighbours.
#pragma once
#include <algorithm>
#include <cstdint>

namespace reprise::cpu {

/// Calls f(neighbours, first, count) for the pieces of a row, in order: for all of it if its
/// elements are neighbours, else for parts of 1,024 that are brought together.
template <class F>
inline void for_each_piece(const float* row, std::int64_t stride, std::int64_t cols, F&& f) {
  if (stride == 1) {
    f(row, std::int64_t{0}, cols);
    return;
  }
  constexpr std::int64_t kTogether = 1024;
  float together[kTogether];
  for (std::int64_t first = 0; first < cols; first += kTogether) {
    const std::int64_t count = std::min(cols - first, kTogether);
    for (std::int64_t i = 0; i < count; ++i) {
      together[i] = row[(first + i) * stride];
    }
    f(static_cast<const float*>(together), first, count);
  }
}

}  // namespace reprise::cpu
