// Times of scopes and groups: sums of the medians of their nodes, and their share of the time that
// all nodes took.
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
    return between(medians_, first, count);
  }
  std::uint64_t of(const ScopeTree::Item& item) const { return of(item.first, item.count); }
  /// Of the time of all nodes in all replays, 0 to 1: as the nodes themselves are compared.
  double share(std::uint32_t first, std::uint32_t count) const {
    const std::uint64_t all = known() ? totals_.back() : 0;
    return all == 0
               ? 0
               : static_cast<double>(between(totals_, first, count)) / static_cast<double>(all);
  }
  double share(const ScopeTree::Item& item) const { return share(item.first, item.count); }

 private:
  /// Sums of the nodes before each, one more than there are nodes; empty if unknown.
  using Sums = std::vector<std::uint64_t>;
  static std::uint64_t between(const Sums& sums, std::uint32_t first, std::uint32_t count) {
    return sums.empty() ? 0 : sums[first + count] - sums[first];
  }
  Sums medians_, totals_;
};

}  // namespace reprise::debugger
