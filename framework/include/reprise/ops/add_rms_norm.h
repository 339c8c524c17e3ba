#pragma once
#include "reprise/ops/rms_norm.h"

namespace reprise {

struct AddRmsNormResult {
  Tensor sum, normalised;
};

/// Adds and normalises in one step: sum = add(x, y), normalised = rms_norm(sum, weight), with their
/// bits. Produced by the fusion pass; calling add and rms_norm yourself is just as fast.
/// Shapes: x, y: [.., cols] f32 of one shape, rows may be strided; weight: [cols] f32, may be
/// absent ({}).
/// Errors: invalid_argument if shapes differ.
[[nodiscard]] AddRmsNormResult add_rms_norm(Site site, TensorRef x, TensorRef y, TensorRef weight,
                                            RmsNormAttributes a = {});

}  // namespace reprise
