#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// Matrix product with the second operand transposed, as weights are stored: y = x * w^T, plus
/// residual if there is one ({}: none). It is added in f32 to the rounded product: the bits are
/// those of add(matmul(x, w), residual).
/// x: [.., n, k] f32, or one vector [k]; w: [.., m, k] f32, f16, bf16 or any block format; y: [..,
/// n, m] f32, or [m]. residual is contiguous, of the shape of y, or one row of m that is added to
/// every row of y, a bias. The others may be strided, but blocks lie one after another. Leading
/// dimensions of w are shared by neighbours of x: head h of x uses head h / (x_heads / w_heads) of
/// w. Errors: invalid_argument if k differs, is 0 or splits a block, if w has rank 1, or if a
/// leading dimension of x is no multiple of that of w, or if residual has another shape. Blocks are
/// decoded to f32; with Precision::fast a backend may round rows of x to 8 bits instead. Sums in
/// f32; their order, and so the last bits, may depend on n and on the device, never on threads. f64
/// in the reference.
[[nodiscard]] Tensor matmul(Site site, TensorRef x, TensorRef w, TensorRef residual = {});

}  // namespace reprise
