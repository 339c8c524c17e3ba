#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// Reduce each row, or a whole tensor, to one number. NaN in a row gives NaN; so do infinities of
/// both signs, except for max. Sums are taken in f32 on a GPU, in f64 on the CPU and in the
/// reference, in an order that the kernel and the shape decide, the same in every run. On a GPU one
/// invocation adds its elements in eight sums; those are added, then those of its workgroup. `sum`
/// takes one workgroup there: sum the rows first if there are millions of elements.
/// Shapes: x: f32, at least 1 column, any strides; sum_rows, mean, max: [.., 1] f32, of each row;
/// sum: [1] f32, of all elements.
/// Errors: invalid_argument for rows without columns; unsupported where a software driver would not
/// finish a row.
[[nodiscard]] Tensor sum_rows(Site site, TensorRef x);
[[nodiscard]] Tensor mean(Site site, TensorRef x);
[[nodiscard]] Tensor max(Site site, TensorRef x);
[[nodiscard]] Tensor sum(Site site, TensorRef x);

}  // namespace reprise
