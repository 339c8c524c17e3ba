// What the graphs of an executor by key, or of a GraphCache, document: which key has a graph, why
// another one has none, and the counters.
#pragma once
#include "tests/session/programs/objects.h"

namespace reprise::testing::programs {

struct KeyModel {
  std::optional<Graph> graph;
  MissReason miss = MissReason::absent;               // without a graph
  std::optional<std::vector<std::string>> structure;  // of its last graph, until reset or stale
  std::uint64_t last_use = 0;
  /// What a lookup says.
  MissReason found() const {
    return !graph ? miss : graph->body.stale() ? MissReason::stale : MissReason::none;
  }
};

class KeyedModel {
 public:
  /// `too_small`: for any graph.
  explicit KeyedModel(std::size_t max_graphs = 8, bool too_small = false)
      : max_graphs_(max_graphs), too_small_(too_small) {}

  std::map<std::size_t, KeyModel> keys;
  GraphCacheCounters counters;  // but for storms and bytes

  /// The key is run, captured or replayed: a stale graph goes.
  KeyModel& use(std::size_t key);
  void ran(MissReason reason) {
    ++(reason == MissReason::none ? counters.hits
                                  : counters.misses[static_cast<std::size_t>(reason)]);
  }
  /// Makes `graph` that of the key; false: it finds no room.
  bool keep(KeyModel& key, Graph& graph);
  /// How many graphs there were.
  std::size_t reset(std::size_t key);

 private:
  std::size_t max_graphs_;
  bool too_small_;
  std::uint64_t uses_ = 0;
};

struct Executor {
  std::string name;
  GraphExecutor real;
  std::shared_ptr<bool> running = std::make_shared<bool>(true);
  KeyedModel keyed;
};

struct Cache {
  std::string name;
  GraphCache real;
  std::shared_ptr<const bool> running;  // its executor
  KeyedModel keyed;
  std::size_t slots = 1;
};

}  // namespace reprise::testing::programs
