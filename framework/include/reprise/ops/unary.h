// Functions of one number, per element. A NaN stays one. Infinities follow from the formulas: silu
// and the gelus of minus infinity, sin and cos of infinities, sqrt and log of negative numbers are
// NaN. Devices compute to a few ulp of the result, sin and cos to an ulp of 1 where x is not small,
// the gelus to 2e-5 of it where x is far below 0.
// Numbers below the smallest normal one may count as 0 there, an exp in a formula too.
// Shapes: x: any shape and strides, f32; y: as x, contiguous.
#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// Returns x / (1 + exp(-x)).
/// Source: Elfwing et al. 2017, "Sigmoid-Weighted Linear Units".
[[nodiscard]] Tensor silu(Site site, TensorRef x);
/// Returns x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), near to gelu_erf.
/// Source: Hendrycks & Gimpel 2016, "Gaussian Error Linear Units".
[[nodiscard]] Tensor gelu(Site site, TensorRef x);
/// Returns x / 2 * (1 + erf(x / sqrt(2))): x times the distribution function of the normal
/// distribution.
[[nodiscard]] Tensor gelu_erf(Site site, TensorRef x);
/// Returns x / (1 + exp(-1.702 x)), less near to gelu_erf.
[[nodiscard]] Tensor gelu_quick(Site site, TensorRef x);
/// Returns x, or 0 where x is negative.
[[nodiscard]] Tensor relu(Site site, TensorRef x);
/// Returns 1 / (1 + exp(-x)).
[[nodiscard]] Tensor sigmoid(Site site, TensorRef x);
[[nodiscard]] Tensor tanh(Site site, TensorRef x);
[[nodiscard]] Tensor exp(Site site, TensorRef x);
/// Returns the natural logarithm; minus infinity for 0.
[[nodiscard]] Tensor log(Site site, TensorRef x);
[[nodiscard]] Tensor neg(Site site, TensorRef x);
/// Returns x * x.
[[nodiscard]] Tensor sqr(Site site, TensorRef x);
[[nodiscard]] Tensor sqrt(Site site, TensorRef x);
/// Returns the sine of x in radians, of any magnitude; likewise cos().
[[nodiscard]] Tensor sin(Site site, TensorRef x);
[[nodiscard]] Tensor cos(Site site, TensorRef x);

}  // namespace reprise
