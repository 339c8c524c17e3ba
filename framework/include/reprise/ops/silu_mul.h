#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// Gated linear unit with the SiLU gate: y = gate / (1 + exp(-gate)) * up.
/// gate, up, y: equal shapes, f32; rows may be strided.
/// Errors: invalid_argument if the shapes differ.
/// Source: Shazeer 2020, "GLU Variants Improve Transformer" (SwiGLU).
[[nodiscard]] Tensor silu_mul(Site site, TensorRef gate, TensorRef up);

/// The same for one product that holds both: x: [.., 2h], gate first; y: [.., h].
/// Errors: invalid_argument if the last dimension is odd.
[[nodiscard]] Tensor silu_mul(Site site, TensorRef x);

}  // namespace reprise
