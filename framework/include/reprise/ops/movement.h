// Tensors put together from others: every element of the result is one of an operand, or zero. Any
// dtype; bits are kept. Operands may be strided, but blocks lie one after another.
#pragma once
#include <array>

#include "reprise/core/recorder.h"

namespace reprise {

/// Appends b to a along dimension `dim`: y.dim(dim) = a.dim(dim) + b.dim(dim).
/// Shapes: a, b: one dtype and rank, the other dimensions equal.
/// Errors: invalid_argument otherwise, or if `dim` is out of range or an extent of the state.
[[nodiscard]] Tensor concat(Site site, TensorRef a, TensorRef b, std::size_t dim);

/// Repeats x: y[i] = x[i mod the extents of x].
/// Shapes: dimensions of y are multiples of those of x; x may have fewer dimensions, which are the
/// last ones then.
/// Errors: invalid_argument if a dimension is no multiple, if x is empty and y is not, or if y has
/// a different extent of the state.
[[nodiscard]] Tensor repeat(Site site, TensorRef x, const Shape& shape);

/// How many zeros go before and after the indices of each dimension of a tensor, the first
/// dimension first. Numbers past its rank have to be 0. The last dimension of block formats takes
/// whole blocks.
struct PadAttributes {
  std::array<std::int32_t, Shape::kMaxRank> before{};
  std::array<std::int32_t, Shape::kMaxRank> after{};
};

/// Puts zeros around x: y.dim(i) = before[i] + x.dim(i) + after[i].
/// Errors: invalid_argument for negative numbers, for numbers other than 0 past the rank or in the
/// dimension of an extent of the state, or if they split a block.
[[nodiscard]] Tensor pad(Site site, TensorRef x, const PadAttributes& a);

}  // namespace reprise
