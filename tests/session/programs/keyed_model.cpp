#include "tests/session/programs/keyed_model.h"

#include <algorithm>

namespace reprise::testing::programs {

KeyModel& KeyedModel::use(std::size_t key) {
  KeyModel& entry = keys[key];
  entry.last_use = ++uses_;
  if (entry.found() == MissReason::stale && entry.graph) {
    entry.graph.reset();
    entry.structure.reset();
    entry.miss = MissReason::stale;
    ++counters.stale;
    --counters.graphs;
  }
  return entry;
}

bool KeyedModel::keep(KeyModel& key, Graph& graph) {
  counters.graphs -= key.graph ? 1U : 0U;
  key.graph.reset();
  ++counters.recorded;
  std::vector<KeyModel*> others;
  for (auto& [number, other] : keys) {
    if (other.graph && other.graph->use->held == 0) {
      others.push_back(&other);
    }
  }
  std::ranges::sort(others, {}, &KeyModel::last_use);
  const std::size_t going =
      counters.graphs + 1 > max_graphs_ ? counters.graphs + 1 - max_graphs_ : 0;
  if (too_small_ || going > others.size()) {
    key.miss = MissReason::rejected;
    ++counters.rejected;
    return false;
  }
  for (KeyModel* other : std::span(others).first(going)) {
    other->graph.reset();
    other->miss = MissReason::evicted;
    ++counters.evicted;
    --counters.graphs;
  }
  key.miss = MissReason::none;
  key.graph = std::move(graph);
  ++counters.graphs;
  return true;
}

std::size_t KeyedModel::reset(std::size_t key) {
  const auto at = keys.find(key);
  if (at == keys.end()) {
    return 0;
  }
  KeyModel& entry = at->second;
  const std::size_t had = entry.graph ? 1 : 0;
  entry.graph.reset();
  entry.structure.reset();
  entry.miss = entry.miss == MissReason::absent ? MissReason::absent : MissReason::reset;
  counters.reset += had;
  counters.graphs -= had;
  return had;
}

}  // namespace reprise::testing::programs
