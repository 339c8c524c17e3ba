#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// Sum per element: z[i] = x[i] + y[i mod extents of y], per dimension.
/// x, z: any shape, f32; y: f32, aligned with x at the last dimension; missing leading dimensions
/// count as 1. Both may have any strides.
/// Errors: invalid_argument if a dimension of x is not a multiple of the one of y.
[[nodiscard]] Tensor add(Site site, TensorRef x, TensorRef y);

}  // namespace reprise
