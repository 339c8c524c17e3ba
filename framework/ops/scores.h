// The scale and the slopes of scores, for ops over heads.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace reprise::ops {

/// 0 stands for 1 / sqrt(dim).
inline float score_scale(float scale, std::int64_t dim) {
  return scale == 0 ? static_cast<float>(1 / std::sqrt(static_cast<double>(dim))) : scale;
}

/// Press et al. 2022, section 3, with the heads past a power of two as in their code. Never 0,
/// which would make NaN of what a mask hides.
inline double alibi_slope(double max_bias, std::int64_t head, std::int64_t heads) {
  const auto even = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  const double turn =
      head < even ? static_cast<double>(head + 1) : static_cast<double>(head - even) + 0.5;
  return std::max(std::exp2(-max_bias * turn / static_cast<double>(even)),
                  std::numeric_limits<double>::min());
}

}  // namespace reprise::ops
