// Schedule: which nodes of a recorded graph run and in which order, and what passes decided about
// them. The graph stays as it was recorded.
#pragma once
#include "reprise/graph/compute_graph.h"

namespace reprise {

/// One thing a pass did, or did not do and why.
struct PassDecision {
  std::string_view pass;          // "dead_nodes"
  std::string_view kind;          // "removed"
  std::uint32_t node = kNoIndex;  // as recorded; kNoIndex: the whole graph
  bool applied = false;
  std::string reason{};
};

struct Schedule {
  std::vector<std::uint32_t> order;  // recorded nodes
  std::vector<PassDecision> decisions;
};

/// All nodes, as they were recorded.
Schedule recorded_order(const ComputeGraph& graph);

}  // namespace reprise
