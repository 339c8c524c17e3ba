// What loading a graph from a file takes and gives. CapturedGraph::save writes the file,
// GraphExecutor::load_graph reads it.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "reprise/session/captured_graph.h"
#include "reprise/session/state_block.h"

namespace reprise {

struct LoadOptions {
  /// Weights, caches and what else the graph keeps between launches, by the names they had when it
  /// was recorded; shapes, dtypes and strides are the same. Others may be among them.
  std::map<std::string, Tensor, std::less<>> tensors{};
  /// With the fields of the recorded one, in any launch's values; empty if it had none.
  StateBlock state{};
  std::optional<std::size_t> slots{};  // empty: as many as it had
};

/// The graph is recorded and planned again in any case: ops, shapes and memory pass the checks of a
/// session. This says what came of it.
struct LoadReport {
  bool replanned = false;  // the plan is not the one that was saved
  /// Why not: the first thing that differs. "kernel family: (gpu) in the file, (lanes) here"
  std::string reason{};
};

struct LoadedGraph {
  CapturedGraph graph;
  LoadReport report;
};

}  // namespace reprise
