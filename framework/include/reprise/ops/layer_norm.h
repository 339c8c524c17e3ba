#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

struct LayerNormAttributes {
  Param<float> eps = 1e-5F;
};

/// Applies layer normalisation: y = (x - mean) / sqrt(variance + eps) * weight + bias, per row. The
/// variance is the mean of squared distances from the mean. A row with NaN or infinity is NaN. Sums
/// in f32, f64 in the reference.
/// Shapes: x: [.., cols] f32, rows may be strided; weight, bias: [cols] f32, each may be absent
/// ({}); y: as x, f32.
/// Errors: invalid_argument if cols differ.
/// Source: Ba, Kiros, Hinton 2016, eq. 4.
[[nodiscard]] Tensor layer_norm(Site site, TensorRef x, TensorRef weight = {}, TensorRef bias = {},
                                LayerNormAttributes a = {});

}  // namespace reprise
