// Options and results of loading a graph from a file. CapturedGraph::save writes the file,
// GraphExecutor::load_graph reads it.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "reprise/session/captured_graph.h"
#include "reprise/session/state_block.h"

namespace reprise {

struct LoadOptions {
  /// Weights, caches and other memory that the graph keeps between launches, by the names they had
  /// when it was recorded. Shapes, dtypes and strides are the same. Additional tensors are ignored.
  /// What an executable graph had of its own is 'handle NAME', where it swaps 'next NAME' too, and
  /// 'routes of LAYER'.
  std::map<std::string, Tensor, std::less<>> tensors{};
  /// A block with the fields of the recorded one, with the values of any launch; empty if it had
  /// none.
  StateBlock state{};
  std::optional<std::size_t> slots{};  // empty: as many as it had
  /// Kernels of the graph, compiled for the device that loads it. They are found by name, and have
  /// the source and interface that they had. A CPU needs them: functions are not in a file. Shapes,
  /// grids and push constants of their calls are those of the file.
  std::vector<CustomKernel> kernels{};
  /// Whether the others are compiled from what the file holds. It is the code of whoever wrote the
  /// file, and its shaders run on the device.
  bool trust_kernels = false;
};

/// How the plan compares with the saved one. In any case the graph is recorded and planned again:
/// ops, shapes and memory pass the checks of a session.
struct LoadReport {
  bool replanned = false;  // the plan is not the one that was saved
  /// Why it is not: the first thing that differs. "kernel family: (gpu) in the file, (lanes) here"
  std::string reason{};
};

struct LoadedGraph {
  CapturedGraph graph;
  LoadReport report;
};

}  // namespace reprise
