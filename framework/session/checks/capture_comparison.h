// Where two plans of one pass differ.
#pragma once
#include "framework/session/replay/pass_plan.h"
#include "reprise/session/lint.h"

namespace reprise {

/// Adds to `findings` what differs in `other`, the plan of `run`, but for fields of nodes that are
/// among them already.
void compare_captures(const PassPlan& first, const PassPlan& other, std::uint32_t run,
                      std::vector<LintFinding>& findings);

}  // namespace reprise
