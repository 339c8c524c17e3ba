// Functions of one number and of parameters that are the same for every element. A NaN stays one.
// Shapes: x: any shape and strides, f32; y: as x, contiguous.
#pragma once
#include <limits>

#include "reprise/core/recorder.h"

namespace reprise {

struct ScaleAttributes {
  Param<float> scale = 1.0F;
  Param<float> bias = 0.0F;
};
/// Returns y = x * scale + bias, rounded once where the device has a fused multiply-add.
[[nodiscard]] Tensor scale(Site site, TensorRef x, ScaleAttributes a);

struct ClampAttributes {
  Param<float> min = -std::numeric_limits<float>::infinity();
  Param<float> max = std::numeric_limits<float>::infinity();
};
/// Returns y = min where x is below min, then max where that is above max. In the state a max below
/// min is the result.
/// Errors: invalid_argument if constants are NaN, or min is above max.
[[nodiscard]] Tensor clamp(Site site, TensorRef x, ClampAttributes a);

struct SoftcapAttributes {
  Param<float> cap;
};
/// Returns y = cap * tanh(x / cap): between -cap and cap, and near to x where x is small. If a cap
/// in the state is no normal number above 0, y is x.
/// Errors: invalid_argument if a constant cap is no normal number above 0.
/// Source: Gemma Team 2024, "Gemma 2", section 2.
[[nodiscard]] Tensor softcap(Site site, TensorRef x, SoftcapAttributes a);

}  // namespace reprise
