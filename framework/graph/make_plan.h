// How a recorded graph becomes a plan.
#pragma once
#include "framework/core/fusion.h"
#include "framework/graph/hazards.h"
#include "reprise/graph/execution_plan.h"

namespace reprise {

struct PlanOptions {
  ReuseRule reuse = ReuseRule::epoch;
  PassOptions passes{};
  FusionRules fusions{};  // what nodes are fused by
};

/// Runs the passes, lowers the nodes they leave, places transients into one arena by lifetime, then
/// places barriers.
ExecutionPlan make_plan(std::shared_ptr<const ComputeGraph> graph, const DeviceTraits& traits,
                        const PlanOptions& options = {});

/// The recorded nodes that run, in that order; members of a fused call as they were recorded.
std::vector<std::uint32_t> running_order(const ExecutionPlan& plan);

/// The ranges a step reads and writes, by Binding::pool.
void touches_of(const StepList& steps, const Step& step, std::vector<Touch>& out);

}  // namespace reprise
