#include "reprise/graph/schedule.h"

#include <numeric>

#include "reprise/graph/passes.h"

namespace reprise {

Schedule recorded_order(const ComputeGraph& graph) {
  Schedule schedule;
  schedule.order.resize(graph.nodes.size());
  std::iota(schedule.order.begin(), schedule.order.end(), 0U);
  return schedule;
}

Schedule run_passes(const ComputeGraph& graph, const PassOptions& options) {
  Schedule schedule = recorded_order(graph);
  if (options.dead_nodes) {
    remove_dead_nodes(graph, schedule);
  }
  if (options.reorder) {
    reorder_nodes(graph, schedule);
  }
  return schedule;
}

}  // namespace reprise
