#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// Multiplies matrices, the second one transposed, as weights are stored: y = x * w^T, plus
/// residual if there is one ({}: none). It is added in f32 to the rounded product: the bits are
/// those of add(matmul(x, w), residual). Neighbours of x share leading dimensions of w: head h of x
/// uses head h / (x_heads / w_heads) of w.
///
/// Blocks are decoded to f32; with Precision::fast a backend may round rows of x to 8 bits instead.
/// Sums in f32, f64 in the reference. Their order, and so the last bits, may depend on n and on the
/// device, never on threads.
/// Shapes: x: [.., n, k] f32, or one vector [k]; w: [.., m, k] f32, f16, bf16 or any block format;
/// y: [.., n, m] f32, or [m]. residual: contiguous, of the shape of y, or one row of m that is
/// added to every row of y, a bias. The others may be strided, but blocks lie one after another.
/// Errors: invalid_argument if k differs, is 0 or splits a block, if w has rank 1, if a leading
/// dimension of x is no multiple of that of w, or if residual has a different shape.
[[nodiscard]] Tensor matmul(Site site, TensorRef x, TensorRef w, TensorRef residual = {});

}  // namespace reprise
