// Views: other shapes of the same memory. They record no node and run no kernel. Ops that need
// contiguous operands refuse strided views: copy first.
// Lifetime: a view keeps the memory of its source alive.
#pragma once
#include <initializer_list>
#include <span>

#include "reprise/core/recorder.h"

namespace reprise {

/// Returns the elements of x, in order, in a different shape.
/// Shapes: x: contiguous, any dtype.
/// Errors: invalid_argument if x is strided or the element counts differ.
[[nodiscard]] Tensor reshape(Site site, TensorRef x, const Shape& shape);

/// Reorders dimensions: result.dim(i) = x.dim(axes[i]).
/// Errors: invalid_argument if `axes` is not a permutation of 0 to rank - 1, or if it would move
/// elements of a block format.
[[nodiscard]] Tensor permute(Site site, TensorRef x, std::span<const std::size_t> axes);
[[nodiscard]] inline Tensor permute(const Site& site, TensorRef x,
                                    std::initializer_list<std::size_t> axes) {
  return permute(site, x, std::span(axes.begin(), axes.size()));
}

/// Returns the indices [start, start + length) of dimension `dim`; the rank stays.
/// Errors: invalid_argument if the range leaves the dimension, or if the slice of a block format is
/// not contiguous.
[[nodiscard]] Tensor slice(Site site, TensorRef x, std::size_t dim, std::int64_t start,
                           std::int64_t length);

/// Does the same outside of a session, for persistent tensors: the view is one too. Its name has
/// the tensor and the view: "cache.slice(0, 2, 4)".
/// Errors: also stale for freed tensors, invalid_argument for a session's transients.
[[nodiscard]] Tensor reshape(TensorRef x, const Shape& shape);
[[nodiscard]] Tensor permute(TensorRef x, std::span<const std::size_t> axes);
[[nodiscard]] inline Tensor permute(TensorRef x, std::initializer_list<std::size_t> axes) {
  return permute(x, std::span(axes.begin(), axes.size()));
}
[[nodiscard]] Tensor slice(TensorRef x, std::size_t dim, std::int64_t start, std::int64_t length);

}  // namespace reprise
