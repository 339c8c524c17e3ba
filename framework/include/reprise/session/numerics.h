// Numerics: compares a graph node by node with the same graph on another device or in another
// precision, and finds where their numbers part.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "reprise/session/captured_graph.h"

namespace reprise {

/// The deviation between the values of two tensors. Values that are not numbers differ unless both
/// are, and infinities unless they are equal. max_abs, max_rel and rmse are infinite then.
struct Deviation {
  double max_abs = 0;
  double max_rel = 0;  // relative to the reference's magnitude, at least its root mean square
  double rmse = 0;
  double cosine = 1;                         // of the angle between both; 1 for zeros
  std::optional<std::uint64_t> first_bad{};  // the first element whose relative deviation is above
                                             // the tolerance
};

/// Returns the deviation; block formats are compared byte by byte.
/// Errors: invalid_argument for different sizes.
Deviation deviation_of(DType dtype, std::span<const std::byte> actual,
                       std::span<const std::byte> reference, double tolerance);

struct NumericsOptions {
  double tolerance = 1e-3;    // maximum of Deviation::max_rel
  std::string tensors = "*";  // which results, as TensorWatch::tensors
};

/// A result of a node.
struct ComparedResult {
  std::uint32_t node = 0, tensor = 0;  // indices in the graph
  std::string name{};                  // of the tensor, as in the profiling database
  Deviation deviation{};
  bool pass = true;
  bool input_differs = false;  // an operand did not pass, so this node is not to blame
};

struct NumericsReport {
  std::string graph{}, reference{};  // name of the graph; device of the reference
  double tolerance = 0;
  std::vector<ComparedResult> results{};  // in the order in which they are computed
  bool pass() const;
  /// Returns the first result that is wrong though its inputs are right; empty if there is none.
  std::optional<ComparedResult> first_diverging() const;
  /// Returns a summary line, and one per result that did not pass.
  std::string text() const;
};

/// Runs both graphs once, as CapturedGraph::run_prefix of all nodes does. Compares what every node
/// computed, where both still compute it. The graphs are recordings of one pass. The caller makes
/// inputs, state and persistent memory of the pass equal before, and restores them afterwards. If
/// `graph` has a profiling database, the results are rows of its table comparisons.
/// Errors: invalid_argument for graphs of different structure, naming the first node that differs,
/// and for graphs of several iterations; those of launch().
NumericsReport compare_numerics(CapturedGraph& graph, CapturedGraph& reference,
                                const NumericsOptions& options = {});

}  // namespace reprise
