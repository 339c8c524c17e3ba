#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// Returns the column of the largest element of every row; the first one of equals. NaN loses
/// against every number; a row of NaN gives 0.
/// Shapes: x: [.., cols] f32, any strides, 1 to 2^31 - 1 columns; y: [..] i32, [1] if x has rank 1.
/// Errors: invalid_argument if x has no or too many columns.
[[nodiscard]] Tensor argmax(Site site, TensorRef x);

}  // namespace reprise
