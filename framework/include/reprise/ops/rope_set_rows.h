#pragma once
#include "reprise/ops/rope.h"
#include "reprise/ops/set_rows.h"

namespace reprise {

/// A rotation straight into a cache: set_rows(table, rope(x, rotation), ..), with their bits, where
/// nothing else needs the rotated values. What passes make of these two; a forward pass is as well
/// off with them.
/// table: [capacity, ..] f32 or f16, contiguous; x: [rows, heads, head_dim] f32, may be strided,
/// with as many elements per row as table. x must not share memory with table.
/// Rows go where `ids` says, i32 or i64 [rows], or if it is absent ({}) to rows.position + r.
/// Errors: those of rope and set_rows; invalid_argument for sections, extrapolation or magnitude.
void rope_set_rows(Site site, TensorRef table, TensorRef x, TensorRef ids, RopeAttributes rotation,
                   SetRowsAttributes rows = {});

}  // namespace reprise
