#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

struct TopKAttributes {
  std::int32_t k = 1;
};

/// The columns of the k largest elements of each row, the largest first: the first k of what
/// argsort() gives in descending order. x: [.., cols] f32, any strides; returns i32 [.., k].
/// Of equal elements those with lower columns come first; NaN is below every number.
/// An element is compared until k others are found before it: about k * cols * log(cols / k)
/// comparisons of random rows, cols^2 / 2 of k near cols: sort those.
/// Errors: invalid_argument if k is not from 1 to cols, or cols above kMaxSortedColumns of
/// argsort.h; unsupported where a software driver would not finish a row.
[[nodiscard]] Tensor top_k(Site site, TensorRef x, TopKAttributes a);

}  // namespace reprise
