#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

struct TopKAttributes {
  std::int32_t k = 1;
};

/// Returns the columns of the k largest elements of each row, the largest first: the first k of
/// argsort() in descending order. Equal elements are in the order of their columns; NaN is below
/// every number. An element is compared until k others are found before it. That takes about k *
/// cols * log(cols / k) comparisons of random rows, but cols^2 / 2 if k is near cols: use argsort()
/// then.
/// Shapes: x: [.., cols] f32, any strides; result: i32 [.., k].
/// Errors: invalid_argument if k is not from 1 to cols, or cols above kMaxSortedColumns of
/// argsort.h; unsupported where a software driver would not finish a row.
[[nodiscard]] Tensor top_k(Site site, TensorRef x, TopKAttributes a);

}  // namespace reprise
