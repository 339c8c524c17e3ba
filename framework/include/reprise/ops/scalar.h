// Functions of one number and of parameters that are the same for every element.
// x: any shape and strides, f32; y: as x, contiguous. A NaN stays one.
#pragma once
#include <limits>

#include "reprise/core/recorder.h"

namespace reprise {

struct ScaleAttributes {
  Param<float> scale = 1.0F;
  Param<float> bias = 0.0F;
};
/// y = x * scale + bias, rounded once where there is a fused multiply-add.
[[nodiscard]] Tensor scale(Site site, TensorRef x, ScaleAttributes a);

struct ClampAttributes {
  Param<float> min = -std::numeric_limits<float>::infinity();
  Param<float> max = std::numeric_limits<float>::infinity();
};
/// y = min where x is below min, then max where that is above max.
/// Errors: invalid_argument if constants are NaN, or min is above max. In the state a max below min
/// is the result.
[[nodiscard]] Tensor clamp(Site site, TensorRef x, ClampAttributes a);

struct SoftcapAttributes {
  Param<float> cap;
};
/// y = cap * tanh(x / cap): between -cap and cap, and near to x where x is small.
/// Errors: invalid_argument if a constant cap is no normal number above 0. Where that of the state
/// is none, y is x.
/// Source: Gemma Team 2024, "Gemma 2", section 2.
[[nodiscard]] Tensor softcap(Site site, TensorRef x, SoftcapAttributes a);

}  // namespace reprise
