// Tensors put together from others: every element of the result is one of an operand, or zero. Of
// any dtype; bits are kept. Operands may be strided, but blocks lie one after another.
#pragma once
#include <array>

#include "reprise/core/recorder.h"

namespace reprise {

/// b after a along dimension `dim`: y.dim(dim) = a.dim(dim) + b.dim(dim).
/// a, b: one dtype and rank, the other dimensions equal.
/// Errors: invalid_argument otherwise, or if `dim` is none of theirs or an extent of the state.
[[nodiscard]] Tensor concat(Site site, TensorRef a, TensorRef b, std::size_t dim);

/// x beside itself: y[i] = x[i mod the extents of x], in a shape whose dimensions are multiples of
/// those of x; x may have fewer dimensions, which are the last ones then.
/// Errors: invalid_argument if a dimension is no multiple, if x is empty and y is not, or if y has
/// another extent of the state.
[[nodiscard]] Tensor repeat(Site site, TensorRef x, const Shape& shape);

/// How many zeros go before and after the indices of each dimension of a tensor, the first
/// dimension first; those past its rank have to be 0. Of blocks, the last dimension takes whole
/// ones.
struct PadAttributes {
  std::array<std::int32_t, Shape::kMaxRank> before{};
  std::array<std::int32_t, Shape::kMaxRank> after{};
};

/// x with zeros around it: y.dim(i) = before[i] + x.dim(i) + after[i].
/// Errors: invalid_argument for negative numbers, for some past the rank, in the dimension of an
/// extent of the state, or if they split a block.
[[nodiscard]] Tensor pad(Site site, TensorRef x, const PadAttributes& a);

}  // namespace reprise
