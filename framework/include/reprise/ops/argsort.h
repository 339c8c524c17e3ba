#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// The longest row that argsort() sorts and top_k() chooses from.
inline constexpr std::int64_t kMaxSortedColumns = std::int64_t{1} << 24U;

struct ArgsortAttributes {
  bool descending = false;
};

/// The columns of each row in the order of their elements. x: [.., cols] f32, any strides.
/// Returns i32 as x: x[ids[0]] is the smallest element, of descending ones the largest.
/// Equal elements keep the order of their columns, ascending and descending; both zeros are equal.
/// NaN is below every number, as in argmax(): first of ascending, last of descending ones.
/// Errors: invalid_argument for more than kMaxSortedColumns columns; unsupported where a software
/// driver would not finish a row, which may be from 262,145 columns on.
/// Source: Batcher 1968 (bitonic merging), by one workgroup per row: cols * log2(cols)^2 / 4
/// comparisons.
[[nodiscard]] Tensor argsort(Site site, TensorRef x, ArgsortAttributes a = {});

}  // namespace reprise
