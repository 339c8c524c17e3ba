#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// Gathers rows: y[.., r, :] = table[.., ids[.., r], :], converted to f32. A row whose id is
/// outside 0 to n - 1 is filled with NaN; memory outside table is never read.
/// Shapes: table: [.., n, cols] f32, f16, bf16 or any block format, contiguous; ids: [.., rows] i32
/// or i64, contiguous, with the leading dimensions of table; y: [.., rows, cols] f32.
/// Errors: invalid_argument if the leading dimensions differ, or if table has no row or rows that
/// split a block.
[[nodiscard]] Tensor get_rows(Site site, TensorRef table, TensorRef ids);

/// Gathers one row, whose id is a constant or a state field.
/// Shapes: table: [n, cols]; y: [1, cols] f32.
/// Errors: also invalid_argument if a constant id is outside 0 to n - 1.
[[nodiscard]] Tensor get_rows(Site site, TensorRef table, Param<std::int32_t> id);

}  // namespace reprise
