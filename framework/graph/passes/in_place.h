// In place: a result lies where an operand was that nobody needs any more (OpDef::overwrites).
#pragma once
#include "reprise/graph/execution_plan.h"

namespace reprise {

/// Enters into `homes` whose memory each storage takes over, and its decisions into the plan; true
/// if there is any. Bindings of the steps name storages, which have their lifetimes. No barrier is
/// needed for it: with `epochs`, operands that others read in the same epoch are left alone.
bool find_in_place(const ComputeGraph& graph, ExecutionPlan& plan,
                   std::span<const std::uint32_t> epochs, std::span<std::uint32_t> homes);

}  // namespace reprise
