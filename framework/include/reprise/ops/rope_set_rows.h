#pragma once
#include "reprise/ops/rope.h"
#include "reprise/ops/set_rows.h"

namespace reprise {

/// Rotates straight into a cache: set_rows(table, rope(x, rotation), ..), with their bits, where
/// nothing else needs the rotated values. Produced by the fusion pass; calling rope and set_rows
/// yourself is just as fast. Rows go where `ids` says, or if it is absent ({}) to rows.position +
/// r. x must not share memory with table.
/// Shapes: table: [capacity, ..] f32 or f16, contiguous; x: [rows, heads, head_dim] f32, may be
/// strided, with as many elements per row as table; ids: i32 or i64 [rows].
/// Errors: those of rope and set_rows; invalid_argument for sections, extrapolation or magnitude.
void rope_set_rows(Site site, TensorRef table, TensorRef x, TensorRef ids, RopeAttributes rotation,
                   SetRowsAttributes rows = {});

}  // namespace reprise
