#include "framework/graph/schedule.h"
#include "reprise/graph/passes.h"

namespace reprise {
namespace {

bool has_effect(const ComputeGraph& graph, std::uint32_t node) {
  if (graph.host_steps.contains(node)) {
    return true;
  }
  for (const Use& use : graph.uses_of(graph.nodes[node])) {
    const Storage& storage = graph.storages[graph.tensors[use.tensor].storage];
    if (writes(use.access) && (storage.is_persistent() || storage.output)) {
      return true;
    }
  }
  return false;
}

}  // namespace

void remove_dead_nodes(const ComputeGraph& graph, Schedule& schedule) {
  std::vector<bool> read(graph.storages.size(), false);  // by a node that runs, later
  if (graph.iteration_tensor != kNoIndex) {
    for (std::size_t s = 0; s < read.size(); ++s) {  // the next iteration finds what is written
      read[s] = graph.storages[s].input;
    }
  }
  std::vector<std::uint32_t> kept;
  for (std::size_t i = schedule.order.size(); i-- > 0;) {
    const std::uint32_t n = schedule.order[i];
    bool needed = has_effect(graph, n);
    for (const Use& use : graph.uses_of(graph.nodes[n])) {
      needed = needed || (writes(use.access) && read[graph.tensors[use.tensor].storage]);
    }
    if (!needed) {
      schedule.decisions.push_back({"dead_nodes", "removed", n, true, "nobody reads its results"});
      continue;
    }
    kept.push_back(n);
    for (const Use& use : graph.uses_of(graph.nodes[n])) {
      if (reads(use.access)) {
        read[graph.tensors[use.tensor].storage] = true;
      }
    }
  }
  schedule.order.assign(kept.rbegin(), kept.rend());
}

}  // namespace reprise
