// Slopes of ALiBi: what the bias of a head is multiplied by.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace reprise::cpu {

/// Those of the power of two below `heads`, then those between them. Never 0, which would make NaN
/// of what a mask hides.
/// Source: Press, Smith, Lewis 2022.
inline float alibi_slope(float max_bias, std::int64_t head, std::int64_t heads) {
  const auto even = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  const double turn =
      head < even ? static_cast<double>(head + 1) : static_cast<double>(head - even) + 0.5;
  const double slope = std::exp2(-static_cast<double>(max_bias) * turn / static_cast<double>(even));
  return std::max(static_cast<float>(slope), std::numeric_limits<float>::min());
}

}  // namespace reprise::cpu
