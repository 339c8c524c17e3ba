// The scale of a block that is encoded: what one step of its integers stands for.
#pragma once
#include <cmath>

#include "framework/core/float16.h"

namespace reprise {

struct BlockScale {
  /// No integer is anything but 0 if `unit` is no number, or too small for half precision.
  explicit BlockScale(float unit)
      : finite(std::isfinite(unit)),
        half(finite ? f32_to_f16(unit) : kNan),
        factor(!finite || (half & 0x7FFFU) == 0 ? 0 : 1 / unit) {}
  static constexpr std::uint16_t kNan = 0x7E00;
  bool finite;
  std::uint16_t half;
  float factor;
};

}  // namespace reprise
