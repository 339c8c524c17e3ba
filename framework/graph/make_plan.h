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

/// Fills `naive_bytes` and `live_peak_bytes` of a plan without moved results from its places.
void add_up_transients(ExecutionPlan& plan);

/// How many recorded nodes run as part of a fused call.
std::uint32_t fused_nodes(const ExecutionPlan& plan);
/// How many results the pass in_place gave the memory of an operand.
std::uint32_t moved_results(const ExecutionPlan& plan);

/// The ranges a step reads and writes, by Binding::pool.
void touches_of(const StepList& steps, const Step& step, std::vector<Touch>& out);

}  // namespace reprise
