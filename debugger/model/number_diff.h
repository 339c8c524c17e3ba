// How far the values of nodes are from each other in two captures, where both kept them of the same
// replay.
#pragma once
#include "debugger/model/run_diff.h"
#include "debugger/model/tensor_statistics.h"

namespace reprise::debugger {

struct NumberDiff {
  std::uint64_t sequence = 0;  // of the replay, in both recordings
  std::string name;            // of the tensor in a
  /// Of all results of the node the one that is furthest apart; empty: not finite, or of another
  /// type or shape. Relative: to the element in a, but at least to the root mean square there.
  std::optional<double> max_abs, max_rel;
  bool equal() const { return max_abs == 0.0; }
};

/// Between the elements of two tensors of the same shape: NaN where one has a NaN or infinity that
/// the other has not.
struct ValueDistance {
  double max_abs = 0, max_rel = 0;
};
ValueDistance distance_of(const TensorValues& a, const TensorValues& b);

/// One per node of the graphs' diff; empty where one side kept no values of it.
std::vector<std::optional<NumberDiff>> diff_numbers(const CaptureOfFile& a, const CaptureOfFile& b,
                                                    const GraphDiff& nodes,
                                                    const std::stop_token& stop = {});

}  // namespace reprise::debugger
