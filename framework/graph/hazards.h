// Places memory barriers in a linear step order. One barrier is global: it separates everything
// before from everything after, so the tracker only remembers accesses since the last one. Barriers
// go as late as possible, which is optimal (stabbing intervals: each hazard (src, dst) needs a
// barrier in (src, dst], and the earliest dst decides).
#pragma once
#include <span>
#include <vector>

#include "framework/core/op.h"
#include "framework/graph/range_map.h"

namespace reprise {

struct Touch {
  Range range;
  Access access;
};

class HazardTracker {
 public:
  /// Adds a step; returns true and appends to barriers() if it must wait.
  bool step(std::uint32_t index, std::span<const Touch> touches);
  /// A barrier of somebody else: everything so far is complete.
  void forget() { map_.clear(); }
  const std::vector<Barrier>& barriers() const { return barriers_; }

 private:
  RangeMap map_;
  std::vector<Barrier> barriers_;
};

}  // namespace reprise
