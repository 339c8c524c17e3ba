// Nodes in groups - of one op, one kernel or one scope - and how long a replay spends in each. The
// time of a group in a replay is the sum of its nodes', so quantiles are of whole replays and the
// rank test compares what is independent.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "debugger/model/replay_times.h"

namespace reprise::debugger {

enum class GroupBy : std::uint8_t { op, kernel, scope };

struct NodeGroup {
  std::string name;                    // empty: nodes without a kernel, or outside of all scopes
  std::string family;                  // of its nodes, if they agree
  std::vector<std::uint32_t> nodes;    // ascending
  std::optional<std::uint64_t> bytes;  // read and written by a replay; empty if nobody said
  std::optional<std::uint64_t> flops;  // of a replay
  bool operator==(const NodeGroup&) const = default;
};
/// In the order of their first nodes; every node is in one.
std::vector<NodeGroup> node_groups(const Capture& capture, GroupBy by);

struct GroupTimes {
  std::vector<std::uint64_t> ns;  // one per replay in which a node of the group has a time
  std::uint64_t p50_ns = 0, p95_ns = 0, p99_ns = 0;
  double variation = 0;  // standard deviation to mean; 0 of fewer than two times
  double share = 0;      // 0 to 1, of the sum of the medians of all groups
};
/// One per group. Times of a replay that do not fit stay at the greatest number.
std::vector<GroupTimes> group_times(const std::vector<NodeGroup>& groups, const ReplayTimes& times);

/// Per second, at the median; empty if the amount is unknown or none, or there is no time.
std::optional<double> rate_of(std::optional<std::uint64_t> amount, const GroupTimes& times);

/// Range B against range A.
struct GroupChange {
  double ratio = 1;                   // of the medians
  std::optional<double> probability;  // of the rank test; empty if a side has too few times
  /// A difference that chance alone shows in less than one of a hundred comparisons.
  bool significant() const { return probability && *probability < 0.01; }
};
/// Empty unless both sides have a median above 0.
std::optional<GroupChange> change_of(const GroupTimes& a, const GroupTimes& b);
/// "+3.1 %", "-12.0 %".
std::string change_text(const GroupChange& change);
/// "0.012", "< 0.001"; "too few" if a side has fewer than 20 times.
std::string probability_text(const GroupChange& change);

}  // namespace reprise::debugger
