// Sums, differences, products and quotients per element. z[i] = f(x[i], y[i mod extents of y]), per
// dimension: y is tiled over x, so [4] + [2] adds y twice, as in GGML. NumPy would refuse that, and
// broadcasts x over y too, which is an error here.
// Shapes: x, z: any shape, f32; y: f32, aligned with x at the last dimension; missing leading
// dimensions count as 1. Both may have any strides.
// Errors: invalid_argument unless every dimension of y divides the same dimension of x.
#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

[[nodiscard]] Tensor add(Site site, TensorRef x, TensorRef y);
[[nodiscard]] Tensor sub(Site site, TensorRef x, TensorRef y);
[[nodiscard]] Tensor mul(Site site, TensorRef x, TensorRef y);
/// Returns x / y. Devices round it to 2.5 ulp; quotients by numbers outside 2^-126 to 2^126 are
/// unspecified.
[[nodiscard]] Tensor div(Site site, TensorRef x, TensorRef y);

}  // namespace reprise
