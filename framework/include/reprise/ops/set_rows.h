#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

struct SetRowsAttributes {
  Param<std::int32_t> position;  // table row of the first row of values
  Param<std::int32_t> window{};  // above 0: table rows are taken modulo window (a ring)
};

/// Scatters rows into a table, in place: table[ids[r], :] = values[r, :], converted to the dtype of
/// table, rounded as in core/encode.h. Other rows keep their bits; the usual use is a key-value
/// cache. Rows outside the table are skipped. With equal ids, which row stays is unspecified.
/// Shapes: table: [capacity, ..] f32, f16, q8_0 or q4_0, contiguous; values: [rows, ..] f32, any
/// strides, with as many elements per row as table; or both i32. ids: [rows] i32 or i64.
/// Errors: invalid_argument if row sizes, counts or dtypes do not match, or if values or ids share
/// memory with table.
void set_rows(Site site, TensorRef table, TensorRef values, TensorRef ids);

/// Scatters as above, with row r written to position + r, modulo window if that is above 0. A
/// position in the state skips rows that it puts outside of the table or below 0. If rows meet in a
/// ring, the last one stays. A window in the state that is negative counts as 0.
/// Errors: also invalid_argument if a constant window is negative, above capacity or (unless 0)
/// below rows, or if a constant position is negative or, with a constant window of 0, leaves no
/// place for all rows (of an extent: for one).
void set_rows(Site site, TensorRef table, TensorRef values, SetRowsAttributes a);

}  // namespace reprise
