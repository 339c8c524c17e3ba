#include <algorithm>

#include "framework/graph/run_passes.h"

namespace reprise {

void remove_dead_nodes(const ComputeGraph& graph, Schedule& schedule) {
  const bool iterates = graph.iteration_tensor != kNoIndex;
  std::vector<bool> wanted(graph.storages.size());  // by a node that runs, later, or after all
  for (std::size_t s = 0; s < wanted.size(); ++s) {
    const Storage& storage = graph.storages[s];
    wanted[s] = storage.is_persistent() || storage.output ||
                (storage.input && iterates);  // the next iteration finds what is written
  }
  const auto storage_of = [&](const Use& use) { return graph.tensors[use.tensor].storage; };
  std::vector<std::uint32_t> kept;
  for (std::size_t i = schedule.order.size(); i-- > 0;) {
    const std::uint32_t n = schedule.order[i];
    const auto uses = graph.uses_of(graph.nodes[n]);
    if (!graph.host_steps.contains(n) && std::ranges::none_of(uses, [&](const Use& use) {
          return writes(use.access) && wanted[storage_of(use)];
        })) {
      schedule.decisions.push_back({"dead_nodes", "removed", n, true, "nobody reads its results"});
      continue;
    }
    kept.push_back(n);
    for (const Use& use : uses) {
      if (reads(use.access)) {
        wanted[storage_of(use)] = true;
      }
    }
  }
  schedule.order.assign(kept.rbegin(), kept.rend());
}

}  // namespace reprise
