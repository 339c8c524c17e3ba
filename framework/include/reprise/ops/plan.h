#pragma once
#include "reprise/core/recorder.h"
#include "reprise/core/state_expression.h"

namespace reprise {

struct PlanAttributes {
  std::int32_t carried_first = 0;  // word of the first carried field; the others follow it
  std::int32_t carried_count = 0;  // at most 32
  std::int32_t row_count = 0;      // of the table
  std::int32_t stop_word = -1;     // of the field that ends iterations while it is not 0; -1: none
};

/// Brings the state block up to date before anything reads it: applies the host's patches to
/// carried fields, then computes the rows of the table. If an iteration is given, decides whether
/// it runs. The framework records it at the head of every plan whose state has such fields; a
/// forward pass does not call it.
///
/// Word 0 of patch holds a bit per carried field to be set, the values follow; word 0 is cleared
/// after use. Rows of the table are {target, x, y, a, b, c, div, lo, hi, least, most, 0}:
/// StateExpression and the range of its field. They are computed in order, so a row may use earlier
/// targets. Rows whose target is no word of the state are skipped.
///
/// The iteration is {iterations that ran, whether this one runs, grids, where one stopped, a row of
/// kGridRowWords words per grid: see backend/step.h}. It runs unless the stop word is not 0 or a
/// row leaves its range. Then it is counted and its grids are the full ones, else they are empty.
/// Behind an iteration that stopped (expert_check) nothing at all is done.
/// Shapes: state: i32 [words], written; patch: i32 [1 + carried_count or more]; table: i32
/// [row_count or more, 12], may be absent ({}) if row_count is 0; iteration: i32, may be absent
/// ({}).
/// Errors: invalid_argument if counts do not fit the tensors.
void plan(Site site, TensorRef state, TensorRef patch, TensorRef table, TensorRef iteration,
          PlanAttributes a);

}  // namespace reprise
