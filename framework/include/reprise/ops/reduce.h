#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// What one number says of a row, or of a tensor. x: f32, at least 1 column, any strides.
/// sum_rows, mean, max: [.., 1] f32, of each row; sum: [1] f32, of all elements.
/// NaN in a row gives NaN; so do infinities of both signs but for max.
/// Sums are taken in f32, in an order that the kernel and the shape decide, the same in every run:
/// one invocation adds its elements in eight sums, those are added, then those of its workgroup.
/// `sum` takes one workgroup: of millions of elements, sum the rows first. f64 in the reference.
/// Errors: invalid_argument for rows without columns; unsupported where a software driver would not
/// finish a row.
[[nodiscard]] Tensor sum_rows(Site site, TensorRef x);
[[nodiscard]] Tensor mean(Site site, TensorRef x);
[[nodiscard]] Tensor max(Site site, TensorRef x);
[[nodiscard]] Tensor sum(Site site, TensorRef x);

}  // namespace reprise
