#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// Maximum length of a row that argsort() sorts and top_k() chooses from.
inline constexpr std::int64_t kMaxSortedColumns = std::int64_t{1} << 24U;

struct ArgsortAttributes {
  bool descending = false;
};

/// Returns the columns of each row in the order of their elements: x[ids[0]] is the smallest
/// element, or the largest if descending. Equal elements keep the order of their columns, ascending
/// and descending; both zeros are equal. NaN is below every number, as in argmax(): first if
/// ascending, last if descending. One workgroup per row makes cols * log2(cols)^2 / 4 comparisons.
/// Shapes: x: [.., cols] f32, any strides; ids: i32 as x.
/// Errors: invalid_argument for more than kMaxSortedColumns columns; unsupported where a software
/// driver would not finish a row, which may be from 262,145 columns on.
/// Source: Batcher 1968 (bitonic merging).
[[nodiscard]] Tensor argsort(Site site, TensorRef x, ArgsortAttributes a = {});

}  // namespace reprise
