// The barriers of plans that passes changed, against every pair of their steps.
#include <set>

#include "framework/ops/fusions.h"
#include "tests/graph/pass_sets.h"
#include "tests/graph/plan_of.h"
#include "tests/graph/random_graphs.h"

namespace reprise::testing {
namespace {

std::vector<Touches> touches_of_all(const ExecutionPlan& plan) {
  std::vector<Touches> touches(plan.steps.size());
  for (std::size_t s = 0; s < touches.size(); ++s) {
    touches_of(plan.steps, plan.steps[s], touches[s]);
  }
  return touches;
}

TEST(PassHazards, AreCoveredByBarriersOfWhichNoneCanGo) {
  DeviceTraits gpu;
  gpu.subgroup_size = 32;
  gpu.workgroup_size = 256;
  gpu.shared_bytes = 49152;
  gpu.binding_alignment = 16;
  DeviceTraits host;
  host.runs_on_host = true;
  const std::array<DeviceTraits, 3> devices{DeviceTraits{}, gpu, host};
  std::size_t graphs = 0, barriers = 0;
  std::set<std::string_view> ops, fusions;
  for_random_graphs(10'000, 40, [&](const ComputeGraph& graph) {
    for (const Node& node : graph.nodes) {
      ops.insert(node.op->name);
    }
    const DeviceTraits& traits = devices[++graphs % devices.size()];
    for (const NamedPasses& passes : kPassSets) {
      for (const ReuseRule rule : {ReuseRule::epoch, ReuseRule::step}) {
        const ExecutionPlan plan = plan_of(graph, traits, {rule, passes.options, fusion_rules()});
        const BarrierOracle oracle(touches_of_all(plan));
        EXPECT_EQ(oracle.uncovered(plan.barriers), 0U) << passes.name;
        EXPECT_EQ(oracle.removable(plan.barriers), 0U) << passes.name;
        barriers += plan.barriers.size();
        for (const PassDecision& d : plan.decisions) {
          if (d.pass == "fuse" && d.applied) {
            fusions.insert(d.kind);
          }
        }
      }
    }
  });
  if (HasFailure()) {
    return;  // no more graphs were made
  }
  EXPECT_GT(barriers, 500'000U) << "the graphs are too tame to show anything";
  const std::set<std::string_view> all{"add",       "advance", "argmax",   "attention", "copy",
                                       "get_rows",  "matmul",  "mul",      "plan",      "rms_norm",
                                       "host_step", "rope",    "set_rows", "silu_mul"};
  EXPECT_EQ(ops, all);
  const std::set<std::string_view> applied{"add_rms_norm", "bias", "matmul_group", "residual"};
  EXPECT_EQ(fusions, applied);
}

}  // namespace
}  // namespace reprise::testing
