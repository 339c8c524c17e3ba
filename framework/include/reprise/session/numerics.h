// Numerics: how far a graph's numbers are from those of the same graph on another device or in
// another precision, node by node, and where they part.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "reprise/session/captured_graph.h"

namespace reprise {

/// Between the values of two tensors. Values that are not numbers differ unless both are, and
/// infinities unless they are equal; then max_abs, max_rel and rmse are infinite.
struct Deviation {
  double max_abs = 0;
  double max_rel = 0;  // of the reference's magnitude, but at least of its root mean square
  double rmse = 0;
  double cosine = 1;                         // of the angle between both; 1 for zeros
  std::optional<std::uint64_t> first_bad{};  // the first element whose relative deviation is above
                                             // the tolerance
};

/// Of block formats byte by byte. Throws invalid_argument for different sizes.
Deviation deviation_of(DType dtype, std::span<const std::byte> actual,
                       std::span<const std::byte> reference, double tolerance);

struct NumericsOptions {
  double tolerance = 1e-3;    // of Deviation::max_rel
  std::string tensors = "*";  // which results, as TensorWatch::tensors
};

/// A result of a node.
struct ComparedResult {
  std::uint32_t node = 0, tensor = 0;  // rows of the graph
  std::string name{};                  // of the tensor, as in the profiling database
  Deviation deviation{};
  bool pass = true;
  bool input_differs = false;  // what its node reads did not pass, so this node is not to blame
};

struct NumericsReport {
  std::string graph{}, reference{};  // its name; the device of the other one
  double tolerance = 0;
  std::vector<ComparedResult> results{};  // in the order in which they are computed
  bool pass() const;
  /// The first result that is wrong though its inputs are right; empty if there is none.
  std::optional<ComparedResult> first_diverging() const;
  /// A line that sums up, and one per result that did not pass.
  std::string text() const;
};

/// Runs both graphs once as CapturedGraph::run_prefix of all nodes does, and compares what every
/// node computed, where both still compute it. They are recordings of one pass; inputs, state and
/// what the pass reads and writes of persistent memory is the caller's to make equal before, and to
/// restore after. The results are rows of the table comparisons where `graph` has a profiling
/// database. Throws invalid_argument for graphs of different structure, naming the first node that
/// differs, and for graphs of several iterations; otherwise as launch().
NumericsReport compare_numerics(CapturedGraph& graph, CapturedGraph& reference,
                                const NumericsOptions& options = {});

}  // namespace reprise
