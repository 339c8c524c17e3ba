#include "framework/graph/schedule.h"

#include <numeric>

#include "framework/graph/run_passes.h"
#include "reprise/graph/passes.h"

namespace reprise {

ScheduledCall scheduled_call(const ComputeGraph& graph, const FusedCalls& fused,
                             std::uint32_t node) {
  const auto it = fused.find(node);
  return it != fused.end() ? ScheduledCall(it->second) : ScheduledCall(graph, graph.nodes[node]);
}

Schedule run_passes(const ComputeGraph& graph, const DeviceTraits& traits,
                    const PassOptions& options, const FusionRules& rules) {
  Schedule schedule;
  schedule.order.resize(graph.nodes.size());
  std::iota(schedule.order.begin(), schedule.order.end(), 0U);
  if (options.dead_nodes) {
    remove_dead_nodes(graph, schedule);
  }
  if (options.fuse || options.fuse_approximate) {
    fuse_nodes(graph, traits, options, rules, schedule);
  }
  if (options.fuse) {
    group_nodes(graph, traits, rules, schedule);
  }
  if (options.reorder) {
    reorder_nodes(graph, schedule);
  }
  return schedule;
}

}  // namespace reprise
