// The arena of a graph, filled with NaN before a launch: a result that is not written whole, or
// read before it is written, shows; a byte written between tensors does too.
#pragma once
#include "tests/testing.h"

namespace reprise::testing {

class PoisonedArena {
 public:
  /// `pool` is that of the graph and of no other one.
  PoisonedArena(const Device& device, const CapturePool& pool, const CapturedGraph& graph);
  void poison() const;
  /// Expects that after poison() no launch wrote what belongs to no tensor.
  void expect_nothing_beside_tensors() const;

 private:
  struct Range {
    std::uint64_t offset, bytes;
  };
  const Device& device_;
  std::shared_ptr<Buffer> arena_;  // null if the graph needs none
  std::vector<Range> used_;        // what belongs to tensors
};

}  // namespace reprise::testing
