#pragma once
#include "reprise/core/recorder.h"
#include "reprise/core/state_expression.h"

namespace reprise {

struct PlanAttributes {
  std::int32_t carried_first = 0;  // word of the first carried field; the others follow it
  std::int32_t carried_count = 0;  // at most 32
  std::int32_t derived_count = 0;
};

/// Brings the state block up to date before anything reads it: applies the host's patches to
/// carried fields, then computes derived fields. The framework records it at the head of every plan
/// whose state has such fields; a forward pass does not call it. state: i32 [words], written.
/// patch: i32 [1 + carried_count or more], word 0 holds a bit per carried field to be set, the
/// values follow; cleared (word 0) after use. table: i32 [derived_count or more, 12], rows {target,
/// x, y, a, b, c, div, lo, hi, 0, 0, 0} as in StateExpression, computed in order, so a row may use
/// earlier targets; may be absent ({}) if derived_count is 0. Rows whose target is no word of the
/// state are skipped. Errors: invalid_argument if counts do not fit the tensors.
void plan(Site site, TensorRef state, TensorRef patch, TensorRef table, PlanAttributes a);

}  // namespace reprise
