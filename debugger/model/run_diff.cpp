#include "debugger/model/run_diff.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <tuple>

#include "debugger/model/node_changes.h"
#include "debugger/model/rank_test.h"
#include "framework/profile/replay_status.h"
#include "reprise/core/error.h"

namespace reprise::debugger {
namespace {

// Of more replays as many are taken, evenly.
constexpr std::size_t kMaxReplays = 4096;

using Times = std::vector<std::vector<std::uint64_t>>;  // by node, one per replay

/// Those of a run by id, so that pairs do not depend on the order of reading.
std::vector<CaptureSummary> captures_of(RunOfFile& file, const std::stop_token& stop) {
  std::vector<CaptureSummary> captures = read_captures(file.path, stop);
  if (!file.run && !captures.empty()) {
    file.run = captures.front().id.run;
  }
  std::erase_if(captures, [&](const CaptureSummary& c) { return c.id.run != file.run; });
  if (captures.empty()) {
    throw_invalid_argument("The profiling database (", file.path.string(), ") has no graphs",
                           (file.run ? " of run (" + std::to_string(*file.run) + ")" : ""), ".");
  }
  return captures;
}

/// The value below which `percent` of the others lie, or the next.
std::uint64_t value_at(std::vector<std::uint64_t> values, std::size_t percent) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) * percent / 100);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

struct ComparedRun {
  ComparedRun(const std::filesystem::path& file, const CaptureId& capture_id,
              const std::stop_token& s)
      : path(file), id(capture_id), stop(s), capture(read_capture(file, capture_id, s)) {
    read_new_replays(path, id, replays, stop);
    std::erase_if(replays.rows, [](const ReplayRow& row) {
      return row.warm_up || row.status != static_cast<std::uint32_t>(ReplayStatus::ran);
    });
  }

  std::set<TimingMode> modes() const {
    std::set<TimingMode> modes;
    for (const ReplayRow& row : replays.rows) {
      modes.insert(row.timing_mode);
    }
    return modes;
  }

  std::optional<std::uint64_t> device_ns() const {
    std::vector<std::uint64_t> times;
    for (const ReplayRow& row : replays.rows) {
      if (row.device_ns) {
        times.push_back(*row.device_ns);
      }
    }
    return times.empty() ? std::nullopt : std::optional(value_at(std::move(times), 50));
  }

  Times times(TimingMode mode) const {
    std::vector<std::int64_t> ids;
    for (const ReplayRow& row : replays.rows) {
      if (row.timing_mode == mode) {
        ids.push_back(row.id);
      }
    }
    Times nodes(capture.nodes.size());
    const auto add = [&](std::size_t, std::span<const CapturedStepTime> steps) {
      for (std::size_t n = 0; n < nodes.size(); ++n) {
        const Capture::Range range = capture.nodes[n].steps;
        std::uint64_t sum = 0;
        bool whole = range.count > 0;
        for (std::uint32_t i = range.first; i < range.first + range.count; ++i) {
          const auto& duration = steps[capture.step_order[i]].duration_ns;
          whole = whole && duration.has_value();
          sum += duration.value_or(0);
        }
        if (whole) {
          nodes[n].push_back(sum);
        }
      }
    };
    read_step_times(path, ids, capture.steps.size(), add, kMaxReplays, stop);
    return nodes;
  }

  /// Of the phase with the most replays in that mode; of no node if there is none.
  NodeTimingTable statistics(TimingMode mode) const {
    for (NodeTimingTable& table : read_node_timings(path, id, stop)) {
      if (table.timing_mode == mode) {
        return std::move(table);
      }
    }
    return {};
  }

  std::filesystem::path path;
  CaptureId id;
  std::stop_token stop;
  Capture capture;
  ReplayTable replays;
};

/// What each node computes, by the names of the weights, inputs and state it comes from and the ops
/// in between: the same for the same calls in another order.
std::vector<std::size_t> origins_of(const Capture& capture) {
  const auto mix = [](std::size_t hash, std::size_t with) {
    return (hash ^ with) * std::size_t{0x9E3779B97F4A7C15} + (hash >> 32U);
  };
  const std::hash<std::string> hash_of;
  std::vector<std::size_t> tensors(capture.tensors.size()), nodes;
  for (const Capture::Node& node : capture.nodes) {
    std::size_t origin = hash_of(node.op);
    const auto operands =
        std::span(capture.operands).subspan(node.operands.first, node.operands.count);
    const auto root = [&](std::uint32_t tensor) {
      while (capture.tensors[tensor].alias_of) {
        tensor = *capture.tensors[tensor].alias_of;
      }
      return tensor;
    };
    for (const Capture::Operand& operand : operands) {
      const std::string* name = given_name(capture.tensors[operand.tensor]);
      origin = mix(origin, hash_of(operand.name));
      if (operand.reads) {
        origin = mix(origin, name != nullptr ? hash_of(*name) : tensors[root(operand.tensor)]);
      }
    }
    for (const Capture::Operand& operand : operands) {
      if (operand.writes) {
        tensors[root(operand.tensor)] = mix(origin, hash_of(operand.name));
      }
    }
    nodes.push_back(origin);
  }
  return nodes;
}

constexpr std::uint32_t kNoNode = 0xFFFFFFFF;

/// Pairs nodes of a with the ones of b that have the same key and as many of that key before them,
/// where neither has a partner yet. A key is scope, op and a number of the node's.
void pair_nodes(const Capture& a, std::span<const std::size_t> numbers_a, const Capture& b,
                std::span<const std::size_t> numbers_b, std::vector<std::uint32_t>& of_a,
                std::vector<std::uint32_t>& of_b) {
  using Key = std::tuple<std::string, std::string, std::size_t>;
  std::map<Key, std::deque<std::uint32_t>> waiting;
  for (std::uint32_t n = 0; n < a.nodes.size(); ++n) {
    if (of_a[n] == kNoNode) {
      waiting[{a.nodes[n].scope, a.nodes[n].op, numbers_a[n]}].push_back(n);
    }
  }
  for (std::uint32_t n = 0; n < b.nodes.size(); ++n) {
    const auto found = waiting.find({b.nodes[n].scope, b.nodes[n].op, numbers_b[n]});
    if (of_b[n] == kNoNode && found != waiting.end() && !found->second.empty()) {
      of_b[n] = found->second.front();
      of_a[of_b[n]] = n;
      found->second.pop_front();
    }
  }
}

/// One side's times in the mode that both have.
struct Timed {
  Timed(const ComparedRun& side, std::optional<TimingMode> mode)
      : times(mode ? side.times(*mode) : Times(side.capture.nodes.size())),
        statistics(mode ? side.statistics(*mode) : NodeTimingTable()) {}

  NodeSide of(std::uint32_t node, bool kept) const {
    NodeSide side{node, times[node].size(), {}, {}};
    if (kept) {
      side.median_ns = value_at(times[node], 50);
      side.p95_ns = value_at(times[node], 95);
    } else if (node < statistics.nodes.size() && statistics.nodes[node]) {
      side.median_ns = statistics.nodes[node]->p50_ns;
      side.p95_ns = statistics.nodes[node]->p95_ns;
    }
    return side;
  }

  Times times;
  NodeTimingTable statistics;
};

std::optional<TimingMode> common_mode(const GraphDiff& diff) {
  for (const TimingMode mode : {TimingMode::node, TimingMode::node_serialised}) {
    if (diff.modes_a.contains(mode) && diff.modes_b.contains(mode)) {
      return mode;
    }
  }
  return std::nullopt;
}

NodeDiff diff_node(const Timed& a, const Timed& b, std::uint32_t node_a, std::uint32_t node_b) {
  const auto& times_a = a.times[node_a];
  const auto& times_b = b.times[node_b];
  const bool kept = !times_a.empty() && !times_b.empty() &&
                    std::min(times_a.size(), times_b.size()) >= kMinForRankTest;
  NodeDiff diff;
  diff.a = a.of(node_a, kept);
  diff.b = b.of(node_b, kept);
  if (diff.a->median_ns && diff.b->median_ns && *diff.a->median_ns > 0) {
    diff.ratio = static_cast<double>(*diff.b->median_ns) / static_cast<double>(*diff.a->median_ns);
  }
  diff.probability = rank_test(times_a, times_b);
  return diff;
}

GraphDiff diff_graphs(const ComparedRun& a, const ComparedRun& b) {
  GraphDiff diff{a.capture.summary.name, a.id.graph, b.id.graph, a.device_ns(),
                 b.device_ns(),          {},         a.modes(),  b.modes()};
  const std::optional<TimingMode> mode = common_mode(diff);
  const Timed timed_a(a, mode);
  const Timed timed_b(b, mode);
  const std::size_t count_a = a.capture.nodes.size(), count_b = b.capture.nodes.size();
  std::vector<std::uint32_t> of_a(count_a, kNoNode), of_b(count_b, kNoNode);
  pair_nodes(a.capture, origins_of(a.capture), b.capture, origins_of(b.capture), of_a, of_b);
  pair_nodes(a.capture, std::vector<std::size_t>(count_a), b.capture,
             std::vector<std::size_t>(count_b), of_a, of_b);
  std::uint32_t last = 0;  // in b, of what was paired so far
  for (std::uint32_t node = 0; node < count_a; ++node) {
    const std::uint32_t other = of_a[node];
    if (other == kNoNode) {
      diff.nodes.emplace_back().a = timed_a.of(node, timed_a.times[node].size() >= kMinForRankTest);
      continue;
    }
    NodeDiff& pair = diff.nodes.emplace_back(diff_node(timed_a, timed_b, node, other));
    pair.changes = node_changes(a.capture, node, b.capture, other);
    if (other < last) {
      pair.changes.push_back("recorded before node " + std::to_string(last) + " there");
    }
    last = std::max(last, other);
  }
  for (std::uint32_t node = 0; node < count_b; ++node) {
    if (of_b[node] == kNoNode) {
      diff.nodes.emplace_back().b = timed_b.of(node, timed_b.times[node].size() >= kMinForRankTest);
    }
  }
  for (NodeDiff& node : diff.nodes) {
    const Capture::Node& named =
        node.a ? a.capture.nodes[node.a->node] : b.capture.nodes[node.b->node];
    node.op = named.op;
    node.scope = named.scope;
  }
  return diff;
}

/// The one with the same content, or the first of that name; it is taken out of `from`.
std::optional<CaptureSummary> take_like(const CaptureSummary& a,
                                        std::vector<CaptureSummary>& from) {
  auto found = std::ranges::find_if(
      from, [&](const CaptureSummary& b) { return b.content_hash == a.content_hash; });
  if (found == from.end()) {
    found = std::ranges::find_if(from, [&](const CaptureSummary& b) { return b.name == a.name; });
  }
  if (found == from.end()) {
    return std::nullopt;
  }
  CaptureSummary taken = std::move(*found);
  from.erase(found);
  return taken;
}

}  // namespace

GraphDiff diff_captures(const CaptureOfFile& a, const CaptureOfFile& b,
                        const std::stop_token& stop) {
  return diff_graphs(ComparedRun(a.path, a.id, stop), ComparedRun(b.path, b.id, stop));
}

RunDiff diff_runs(const RunOfFile& a, const RunOfFile& b, const std::stop_token& stop) {
  RunDiff diff{a, b, {}};
  const std::vector<CaptureSummary> of_a = captures_of(diff.a, stop);
  std::vector<CaptureSummary> of_b = captures_of(diff.b, stop);
  bool any = false;
  for (const CaptureSummary& in_a : of_a) {
    if (const auto in_b = take_like(in_a, of_b)) {
      diff.graphs.push_back(diff_graphs(ComparedRun(diff.a.path, in_a.id, stop),
                                        ComparedRun(diff.b.path, in_b->id, stop)));
      any = true;
    } else {
      diff.graphs.push_back({in_a.name, in_a.id.graph, {}, {}, {}, {}});
    }
  }
  for (const CaptureSummary& in_b : of_b) {
    diff.graphs.push_back({in_b.name, {}, in_b.id.graph, {}, {}, {}});
  }
  if (!any) {
    throw_invalid_argument("Run (", *diff.a.run, ") and run (", *diff.b.run,
                           ") have no graph in common; the first of each are (", of_a.front().name,
                           ") and (", of_b.front().name, ").");
  }
  return diff;
}

}  // namespace reprise::debugger
