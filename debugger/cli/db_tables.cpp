#include <nlohmann/json.hpp>

#include "debugger/cli/commands.h"
#include "debugger/cli/print_json.h"
#include "debugger/cli/table.h"
#include "framework/profile/replay_status.h"

namespace reprise::cli {
namespace {

/// Files may hold numbers that no status has.
std::string status_text(std::uint64_t status) {
  switch (static_cast<ReplayStatus>(status)) {
    case ReplayStatus::ran:
      return "";
    case ReplayStatus::skipped:
      return "skipped";
    case ReplayStatus::failed:
      return "failed";
  }
  return "status " + std::to_string(status);
}

nlohmann::json to_json(const NodeSummary& node) {
  return {{"graph", node.graph},          {"graph_name", node.graph_name},
          {"node", node.index},           {"op", node.op},
          {"scope", node.scope},          {"kernels", node.kernels},
          {"source", node.source},        {"steps", node.steps},
          {"flops", or_null(node.flops)}, {"bytes", or_null(node.bytes)}};
}

nlohmann::json to_json(const TopNodes& top) {
  nlohmann::json nodes = nlohmann::json::array();
  for (const NodeTimes& times : top.nodes) {
    nlohmann::json row = to_json(times.node);
    row.update({{"phase", times.phase},
                {"timing_mode", times.timing_mode},
                {"replays", times.replays},
                {"total_ns", times.total_ns},
                {"share", times.share},
                {"p50_ns", times.p50_ns},
                {"p95_ns", times.p95_ns},
                {"min_ns", times.min_ns},
                {"max_ns", times.max_ns},
                {"below_bias", times.below_bias}});
    nodes.push_back(row);
  }
  return {{"run", or_null(top.run)},
          {"timestamp_bias_ns", or_null(top.timestamp_bias_ns)},
          {"nodes", nodes}};
}

nlohmann::json to_json(const ReplaySummary& replay) {
  return {{"id", replay.id},
          {"run", replay.run},
          {"graph", replay.graph},
          {"graph_name", replay.graph_name},
          {"phase", replay.phase},
          {"timing_mode", replay.timing_mode},
          {"sequence", replay.sequence},
          {"submission", replay.submission},
          {"iteration", replay.iteration},
          {"slot", replay.slot},
          {"status", replay.status},
          {"warm_up", replay.warm_up},
          {"has_step_times", replay.has_step_times},
          {"prepare_ns", or_null(replay.prepare_ns)},
          {"submit_ns", or_null(replay.submit_ns)},
          {"wait_ns", or_null(replay.wait_ns)},
          {"device_ns", or_null(replay.device_ns)}};
}

template <class Row>
nlohmann::json to_json(const std::vector<Row>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const Row& row : rows) {
    list.push_back(to_json(row));
  }
  return list;
}

/// Work per nanosecond is work in billions per second.
std::string per_second(std::optional<std::uint64_t> work, std::uint64_t ns, int digits) {
  return work && ns > 0 ? number(static_cast<double>(*work) / static_cast<double>(ns), digits) : "";
}

void print(const TopNodes& top) {
  Table table({{"graph"},
               {"phase"},
               {"mode"},
               {"node", Holds::numbers},
               {"op"},
               {"scope"},
               {"replays", Holds::numbers},
               {"total ms", Holds::numbers},
               {"%", Holds::numbers},
               {"p50 us", Holds::numbers},
               {"p95 us", Holds::numbers},
               {""},
               {"GB/s", Holds::numbers},
               {"GFLOP/s", Holds::numbers},
               {"kernel"},
               {"source", Holds::paths}});
  bool marked = false;
  for (const NodeTimes& t : top.nodes) {
    marked = marked || t.below_bias;
    table.add({std::to_string(t.node.graph), t.phase, t.timing_mode, std::to_string(t.node.index),
               t.node.op, t.node.scope, number(t.replays),
               number(static_cast<double>(t.total_ns) / 1e6, 3), number(100 * t.share, 1),
               microseconds(t.p50_ns), microseconds(t.p95_ns), t.below_bias ? "*" : "",
               per_second(t.node.bytes, t.p50_ns, 2), per_second(t.node.flops, t.p50_ns, 2),
               t.node.kernels, t.node.source});
  }
  table.print();
  if (marked) {
    std::printf(
        "* at least half of the times are below 3 times what one timestamp adds to them "
        "(%llu ns)\n",
        static_cast<unsigned long long>(top.timestamp_bias_ns.value_or(0)));
  }
}

}  // namespace

void print_top_nodes(const std::string& path, const TopNodesQuery& query, bool json) {
  const TopNodes top = read_top_nodes(path, query);
  if (json) {
    print_json(to_json(top));
  } else if (top.nodes.empty()) {
    std::printf(
        "no node times%s: they come from replays in the timing mode node, for example "
        "after executor.set_timing(TimingMode::node)\n",
        query.graph || query.phase ? " of this graph and phase" : "");
  } else {
    print(top);
  }
}

void print_nodes(const std::string& path, std::optional<std::int64_t> graph, bool json) {
  const std::vector<NodeSummary> nodes = read_nodes(path, graph);
  if (json) {
    print_json(to_json(nodes));
    return;
  }
  Table table({{"graph"},
               {"name"},
               {"node", Holds::numbers},
               {"op"},
               {"scope"},
               {"steps", Holds::numbers},
               {"bytes", Holds::numbers},
               {"flop", Holds::numbers},
               {"kernel"},
               {"source", Holds::paths}});
  const auto or_empty = [](std::optional<std::uint64_t> value) {
    return value ? number(*value) : "";
  };
  for (const NodeSummary& node : nodes) {
    table.add({std::to_string(node.graph), node.graph_name, std::to_string(node.index), node.op,
               node.scope, number(node.steps), or_empty(node.bytes), or_empty(node.flops),
               node.kernels, node.source});
  }
  table.print();
}

void print_replays(const std::string& path, std::size_t limit, bool json) {
  const std::vector<ReplaySummary> replays = read_replays(path, limit);
  if (json) {
    print_json(to_json(replays));
    return;
  }
  Table table({{"id", Holds::numbers},
               {"run"},
               {"graph"},
               {"phase"},
               {"sequence", Holds::numbers},
               {"iteration", Holds::numbers},
               {"mode"},
               {"prepare us", Holds::numbers},
               {"submit us", Holds::numbers},
               {"wait us", Holds::numbers},
               {"device us", Holds::numbers},
               {"notes"}});
  for (const ReplaySummary& r : replays) {
    std::string notes = r.warm_up ? "warm-up " : "";
    notes += r.has_step_times ? "step times " : "";
    notes += status_text(r.status);
    table.add({std::to_string(r.id), std::to_string(r.run),
               std::to_string(r.graph) + " " + r.graph_name, r.phase, number(r.sequence),
               number(r.iteration), r.timing_mode, microseconds(r.prepare_ns),
               microseconds(r.submit_ns), microseconds(r.wait_ns), microseconds(r.device_ns),
               notes});
  }
  table.print();
}

}  // namespace reprise::cli
