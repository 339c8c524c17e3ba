#include "debugger/model/group_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "debugger/model/format.h"
#include "debugger/model/node_details.h"
#include "debugger/model/rank_test.h"
#include "debugger/model/statistics.h"

namespace reprise::debugger {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::uint64_t sum(std::uint64_t a, std::uint64_t b) { return a > kMost - b ? kMost : a + b; }

void add(std::optional<std::uint64_t>& to, std::optional<std::uint64_t> more) {
  if (more) {
    to = sum(to.value_or(0), *more);
  }
}

std::string name_of(const Capture& capture, const Capture::Node& node, GroupBy by) {
  switch (by) {
    case GroupBy::op:
      return node.op;
    case GroupBy::kernel:
      return kernels_text(capture, node);
    case GroupBy::scope:
      return node.scope;
  }
  return {};
}

GroupTimes times_of(std::vector<std::uint64_t> ns) {
  GroupTimes times;
  double mean = 0, squares = 0;
  for (std::size_t i = 0; i < ns.size(); ++i) {
    // Welford 1962: no difference of large sums.
    const double from_mean = static_cast<double>(ns[i]) - mean;
    mean += from_mean / static_cast<double>(i + 1);
    squares += from_mean * (static_cast<double>(ns[i]) - mean);
  }
  if (ns.size() >= 2 && mean > 0) {
    times.variation = std::sqrt(squares / static_cast<double>(ns.size() - 1)) / mean;
  }
  times.p50_ns = quantile(ns, 0.5);
  times.p95_ns = quantile(ns, 0.95);
  times.p99_ns = quantile(ns, 0.99);
  times.ns = std::move(ns);
  return times;
}

}  // namespace

std::vector<NodeGroup> node_groups(const Capture& capture, GroupBy by) {
  std::vector<NodeGroup> groups;
  std::unordered_map<std::string, std::size_t> known;
  for (std::uint32_t n = 0; n < capture.nodes.size(); ++n) {
    const Capture::Node& node = capture.nodes[n];
    std::string name = name_of(capture, node, by);
    const auto [place, is_new] = known.emplace(name, groups.size());
    if (is_new) {
      groups.push_back({std::move(name), node.family, {}, {}, {}});
    }
    NodeGroup& group = groups[place->second];
    group.nodes.push_back(n);
    add(group.bytes, bytes_of(node));
    add(group.flops, node.flops);
    if (group.family != node.family) {
      group.family.clear();
    }
  }
  return groups;
}

std::vector<GroupTimes> group_times(const std::vector<NodeGroup>& groups,
                                    const ReplayTimes& times) {
  std::vector<GroupTimes> found;
  double all = 0;
  found.reserve(groups.size());
  for (const NodeGroup& group : groups) {
    std::vector<std::uint64_t> ns;
    ns.reserve(times.replays);
    for (std::size_t r = 0; r < times.replays; ++r) {
      const auto of_replay = times.of(r);
      std::optional<std::uint64_t> total;
      for (const std::uint32_t node : group.nodes) {
        if (of_replay[node] != ReplayTimes::kNone) {
          add(total, of_replay[node]);
        }
      }
      if (total) {
        ns.push_back(*total);
      }
    }
    found.push_back(times_of(std::move(ns)));
    all += static_cast<double>(found.back().p50_ns);
  }
  for (GroupTimes& group : found) {
    group.share = all > 0 ? static_cast<double>(group.p50_ns) / all : 0;
  }
  return found;
}

std::optional<double> rate_of(std::optional<std::uint64_t> amount, const GroupTimes& times) {
  return amount.value_or(0) > 0 && times.p50_ns > 0
             ? std::optional(static_cast<double>(*amount) * 1e9 / static_cast<double>(times.p50_ns))
             : std::nullopt;
}

std::optional<GroupChange> change_of(const GroupTimes& a, const GroupTimes& b) {
  if (a.p50_ns == 0 || b.p50_ns == 0) {
    return std::nullopt;
  }
  return GroupChange{static_cast<double>(b.p50_ns) / static_cast<double>(a.p50_ns),
                     rank_test(a.ns, b.ns)};
}

std::string change_text(const GroupChange& change) {
  const double by = change.ratio - 1;
  const std::string size = percent_text(std::abs(by));
  return by > 0 ? "+" + size : by < 0 ? "-" + size : size;
}

std::string probability_text(const GroupChange& change) {
  if (!change.probability) {
    return "too few";
  }
  return *change.probability < 0.001 ? "< 0.001" : fmt::format("{:.3f}", *change.probability);
}

}  // namespace reprise::debugger
