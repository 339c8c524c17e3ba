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
/// carried fields, then computes the rows of the table. Where an iteration is given it decides
/// whether this one runs. The framework records it at the head of every plan whose state has such
/// fields; a forward pass does not call it. state: i32 [words], written. patch: i32 [1 +
/// carried_count or more], word 0 holds a bit per carried field to be set, the values follow;
/// cleared (word 0) after use. table: i32 [row_count or more, 12], rows {target, x, y, a, b, c,
/// div, lo, hi, least, most, 0}: StateExpression and the range of its field, computed in order, so
/// a row may use earlier targets; may be absent ({}) if row_count is 0. Rows whose target is no
/// word of the state are skipped. iteration: i32, absent ({}) or {iterations that ran, whether this
/// one runs, grids, 0, a row of 8 words per grid: see core/step.h}. It runs unless the stop word is
/// not 0 or a row leaves its range; then it is counted and its grids are the full ones, else they
/// are empty. Errors: invalid_argument if counts do not fit the tensors.
void plan(Site site, TensorRef state, TensorRef patch, TensorRef table, TensorRef iteration,
          PlanAttributes a);

}  // namespace reprise
