// Finds rows that are counted otherwise than a pass writes them: decoding with the rows of the
// prompt.
#pragma once
#include "reprise/session/lint.h"

namespace reprise {

/// Adds findings about two kinds of ops. LintFinding::kRows: an op moves a state field on
/// (OpDef::grows) by a number of rows that differs from what is written at that field.
/// LintFinding::kUsedRows: an op reads rows of a table (OpDef::used_rows) up to a place where the
/// last ones written into it do not end. `run` is the run whose values the state has. Numbers that
/// the device carries are not judged: the device may have computed them.
void add_miscounted_rows(const ComputeGraph& graph, const StateBlock& state, std::uint32_t run,
                         std::vector<LintFinding>& findings);

}  // namespace reprise
