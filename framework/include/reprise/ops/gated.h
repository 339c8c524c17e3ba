// Gated linear units: y = f(gate) * up.
// Shapes: two operands: gate, up, y: equal shapes, f32; rows may be strided. One operand that holds
// both, as one product makes it: x: [.., 2h], gate first; y: [.., h].
// Errors: invalid_argument if the shapes differ, or if the last dimension of one operand is odd.
// Source: Shazeer 2020, "GLU Variants Improve Transformer".
#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// Computes SwiGLU: f is silu (unary.h).
[[nodiscard]] Tensor silu_mul(Site site, TensorRef gate, TensorRef up);
[[nodiscard]] Tensor silu_mul(Site site, TensorRef x);

/// Computes GEGLU: f is gelu, with tanh.
[[nodiscard]] Tensor gelu_mul(Site site, TensorRef gate, TensorRef up);
[[nodiscard]] Tensor gelu_mul(Site site, TensorRef x);

/// Computes GLU: f is sigmoid.
[[nodiscard]] Tensor sigmoid_mul(Site site, TensorRef gate, TensorRef up);
[[nodiscard]] Tensor sigmoid_mul(Site site, TensorRef x);

}  // namespace reprise
