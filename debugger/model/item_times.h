// Times of scopes and groups: sums of the medians of their nodes, and their share of the sum of the
// medians of all nodes.
#pragma once
#include <cstdint>
#include <vector>

#include "debugger/model/scope_tree.h"
#include "debugger/model/statistics.h"

namespace reprise::debugger {

class ItemTimes {
 public:
  /// Unknown if the statistics have no times, or are not of that many nodes.
  ItemTimes(const CaptureStatistics& statistics, std::size_t nodes);
  bool known() const { return !medians_.empty(); }
  /// Of nodes [first, first + count).
  std::uint64_t of(std::uint32_t first, std::uint32_t count) const {
    return medians_.empty() ? 0 : medians_[first + count] - medians_[first];
  }
  std::uint64_t of(const ScopeTree::Item& item) const { return of(item.first, item.count); }
  /// 0 to 1.
  double share(std::uint32_t first, std::uint32_t count) const {
    const std::uint64_t all = known() ? medians_.back() : 0;
    return all == 0 ? 0 : static_cast<double>(of(first, count)) / static_cast<double>(all);
  }
  double share(const ScopeTree::Item& item) const { return share(item.first, item.count); }

 private:
  /// Sums of the nodes before each, one more than there are nodes; empty if unknown.
  std::vector<std::uint64_t> medians_;
};

}  // namespace reprise::debugger
