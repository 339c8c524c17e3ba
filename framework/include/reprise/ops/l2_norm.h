#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

struct L2NormAttributes {
  Param<float> eps = 1e-6F;
};

/// Scales rows to length 1: y = x / max(sqrt(sum(x^2)), eps), per row. A row with NaN is NaN. Sums
/// in f32, f64 in the reference.
/// Shapes: x: [.., cols] f32, rows may be strided; y: as x, f32.
/// Source: ggml_l2_norm.
[[nodiscard]] Tensor l2_norm(Site site, TensorRef x, L2NormAttributes a = {});

}  // namespace reprise
