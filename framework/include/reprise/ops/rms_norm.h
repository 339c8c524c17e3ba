#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

struct RmsNormAttributes {
  Param<float> eps = 1e-5F;
};

/// Normalises rows by their root mean square: y = x / sqrt(mean(x^2) + eps) * weight, per row. Sums
/// in f32, f64 in the reference.
/// Shapes: x: [.., cols] f32, rows may be strided; weight: [cols] f32, may be absent ({}); y: as x,
/// f32.
/// Errors: invalid_argument if cols differ.
/// Source: Zhang & Sennrich 2019, eq. 4.
[[nodiscard]] Tensor rms_norm(Site site, TensorRef x, TensorRef weight, RmsNormAttributes a = {});

}  // namespace reprise
