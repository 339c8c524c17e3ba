#include <algorithm>

#include <nlohmann/json.hpp>

#include "debugger/cli/commands.h"
#include "debugger/cli/listing.h"
#include "debugger/cli/print_json.h"
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

std::string replay_notes(const ReplaySummary& replay) {
  return std::string(replay.warm_up ? "warm-up " : "") +
         (replay.has_step_times ? "step times " : "") + status_text(replay.status);
}

/// Work per nanosecond is work in billions per second.
Cell per_second(std::optional<std::uint64_t> work, std::uint64_t ns) {
  return work && ns > 0 ? number(static_cast<double>(*work) / static_cast<double>(ns), 2) : "";
}

const std::vector<RowColumn<NodeSummary>>& node_columns() {
  using Row = NodeSummary;
  static const std::vector<RowColumn<Row>> kColumns = {
      {"graph", "graph", Holds::texts, &Row::graph},
      {"graph_name", "name", Holds::texts, &Row::graph_name},
      {"node", "node", Holds::numbers, &Row::index},
      {"op", "op", Holds::texts, &Row::op},
      {"scope", "scope", Holds::texts, &Row::scope},
      {"steps", "steps", Holds::numbers, &Row::steps},
      {"bytes", "bytes", Holds::numbers, &Row::bytes},
      {"flops", "flop", Holds::numbers, &Row::flops},
      {"kernels", "kernel", Holds::texts, &Row::kernels},
      {"source", "source", Holds::paths, &Row::source}};
  return kColumns;
}

const std::vector<RowColumn<NodeTimes>>& time_columns() {
  using Row = NodeTimes;
  const auto of = [](auto NodeSummary::*member) {
    return [member](const Row& row) -> Cell { return row.node.*member; };
  };
  static const std::vector<RowColumn<Row>> kColumns = {
      {"graph", "graph", Holds::texts, of(&NodeSummary::graph)},
      {"graph_name", kNotInTables, Holds::texts, of(&NodeSummary::graph_name)},
      {"phase", "phase", Holds::texts, &Row::phase},
      {"timing_mode", "mode", Holds::texts, &Row::timing_mode},
      {"node", "node", Holds::numbers, of(&NodeSummary::index)},
      {"op", "op", Holds::texts, of(&NodeSummary::op)},
      {"scope", "scope", Holds::texts, of(&NodeSummary::scope)},
      {"steps", kNotInTables, Holds::numbers, of(&NodeSummary::steps)},
      {"replays", "replays", Holds::numbers, &Row::replays},
      {"total_ns", "total ms", Holds::numbers,
       [](const Row& row) {
         return Cell(Cell(row.total_ns).value, number(static_cast<double>(row.total_ns) / 1e6, 3));
       }},
      {"share", "%", Holds::numbers,
       [](const Row& row) { return Cell(Value(row.share), number(100 * row.share, 1)); }},
      {"p50_ns", "p50 us", Holds::numbers, [](const Row& row) { return nanoseconds(row.p50_ns); }},
      {"p95_ns", "p95 us", Holds::numbers, [](const Row& row) { return nanoseconds(row.p95_ns); }},
      {"min_ns", kNotInTables, Holds::numbers, &Row::min_ns},
      {"max_ns", kNotInTables, Holds::numbers, &Row::max_ns},
      {"below_bias", "", Holds::texts,
       [](const Row& row) { return Cell(Value(row.below_bias), row.below_bias ? "*" : ""); }},
      {"bytes", kNotInTables, Holds::numbers, of(&NodeSummary::bytes)},
      {"flops", kNotInTables, Holds::numbers, of(&NodeSummary::flops)},
      {"", "GB/s", Holds::numbers,
       [](const Row& row) { return per_second(row.node.bytes, row.p50_ns); }},
      {"", "GFLOP/s", Holds::numbers,
       [](const Row& row) { return per_second(row.node.flops, row.p50_ns); }},
      {"kernels", "kernel", Holds::texts, of(&NodeSummary::kernels)},
      {"source", "source", Holds::paths, of(&NodeSummary::source)}};
  return kColumns;
}

const std::vector<RowColumn<ReplaySummary>>& replay_columns() {
  using Row = ReplaySummary;
  const auto time = [](std::optional<std::uint64_t> Row::*member) {
    return [member](const Row& row) { return nanoseconds(row.*member); };
  };
  static const std::vector<RowColumn<Row>> kColumns = {
      {"id", "id", Holds::numbers, &Row::id},
      {"run", "run", Holds::texts, &Row::run},
      {"graph", "graph", Holds::texts,
       [](const Row& row) {
         return Cell(Value(row.graph), std::to_string(row.graph) + " " + row.graph_name);
       }},
      {"graph_name", kNotInTables, Holds::texts, &Row::graph_name},
      {"phase", "phase", Holds::texts, &Row::phase},
      {"sequence", "sequence", Holds::numbers, &Row::sequence},
      {"submission", kNotInTables, Holds::numbers, &Row::submission},
      {"iteration", "iteration", Holds::numbers, &Row::iteration},
      {"slot", kNotInTables, Holds::numbers, &Row::slot},
      {"status", kNotInTables, Holds::numbers, &Row::status},
      {"warm_up", kNotInTables, Holds::texts, &Row::warm_up},
      {"has_step_times", kNotInTables, Holds::texts, &Row::has_step_times},
      {"timing_mode", "mode", Holds::texts, &Row::timing_mode},
      {"prepare_ns", "prepare us", Holds::numbers, time(&Row::prepare_ns)},
      {"submit_ns", "submit us", Holds::numbers, time(&Row::submit_ns)},
      {"wait_ns", "wait us", Holds::numbers, time(&Row::wait_ns)},
      {"device_ns", "device us", Holds::numbers, time(&Row::device_ns)},
      {"", "notes", Holds::texts, replay_notes}};
  return kColumns;
}

}  // namespace

void print_top_nodes(const std::string& path, const TopNodesQuery& query, bool json) {
  const TopNodes top = read_top_nodes(path, query);
  const Listing nodes = list_of("nodes", time_columns(), top.nodes);
  if (json) {
    print_json(nlohmann::json{{"run", or_null(top.run)},
                              {"timestamp_bias_ns", or_null(top.timestamp_bias_ns)},
                              {"nodes", nlohmann::json(to_json(nodes))}});
    return;
  }
  if (top.nodes.empty()) {
    std::printf(
        "no node times%s: they come from replays in the timing mode node, for example "
        "after executor.set_timing(TimingMode::node)\n",
        query.graph || query.phase ? " of this graph and phase" : "");
    return;
  }
  print_table(nodes);
  if (std::ranges::any_of(top.nodes, &NodeTimes::below_bias)) {
    std::printf(
        "* at least half of the times are below 3 times what one timestamp adds to them "
        "(%llu ns)\n",
        static_cast<unsigned long long>(top.timestamp_bias_ns.value_or(0)));
  }
}

void print_nodes(const std::string& path, std::optional<std::int64_t> graph, bool json) {
  print_rows(list_of("nodes", node_columns(), read_nodes(path, graph)), json);
}

void print_replays(const std::string& path, std::size_t limit, bool json) {
  print_rows(list_of("replays", replay_columns(), read_replays(path, limit)), json);
}

}  // namespace reprise::cli
