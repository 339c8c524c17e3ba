// Finds a position that moves by another number of rows than a pass writes there: decoding with the
// rows of the prompt.
#pragma once
#include "reprise/session/lint.h"

namespace reprise {

/// Adds a finding (LintFinding::kRows) for each op that moves a state field on (OpDef::grows) by
/// another number of rows than are written at that field. `run` is the run whose values the state
/// has. An amount that the device carries is not judged: the device may have computed it.
void add_miscounted_rows(const ComputeGraph& graph, const StateBlock& state, std::uint32_t run,
                         std::vector<LintFinding>& findings);

}  // namespace reprise
