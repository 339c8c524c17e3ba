#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

struct L2NormAttributes {
  Param<float> eps = 1e-6F;
};

/// Rows of length 1: y = x / max(sqrt(sum(x^2)), eps), per row.
/// x: [.., cols] f32, rows may be strided. y: as x, f32. A row with NaN is NaN.
/// Source: ggml_l2_norm. Sums in f32, f64 in the reference.
[[nodiscard]] Tensor l2_norm(Site site, TensorRef x, L2NormAttributes a = {});

}  // namespace reprise
