// Plans of graphs that the test owns.
#pragma once
#include "framework/graph/make_plan.h"
#include "reprise/graph/execution_plan.h"

namespace reprise::testing {

/// Valid as long as the graph.
inline ExecutionPlan plan_of(const ComputeGraph& graph, const DeviceTraits& traits = {},
                             const PlanOptions& options = {}) {
  return make_plan({std::shared_ptr<void>(), &graph}, traits, options);
}

}  // namespace reprise::testing
