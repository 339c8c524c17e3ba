#include "framework/profile/profile_tables.h"

#include <array>

#include "framework/profile/profile_snapshot.h"
#include "reprise/profile.h"

namespace reprise {
namespace {

using profile::count;
using profile::Database;
using profile::optional_count;
using profile::read_snapshot;
using profile::Statement;

// Of a node n of a graph g: the columns of NodeSummary.
constexpr std::string_view kNodeColumns =
    "g.id, n.idx, g.name, n.op, n.scope, "
    "(SELECT group_concat(DISTINCT k.name) FROM steps d JOIN kernels k ON k.id=d.kernel_id "
    "WHERE d.graph_id=g.id AND d.node_idx=n.idx), n.src_file, n.src_line, "
    "(SELECT count(*) FROM steps d WHERE d.graph_id=g.id AND d.node_idx=n.idx), "
    "n.flops, n.read_bytes+n.write_bytes";
constexpr int kNodeColumnCount = 11;

NodeSummary node_of(const Statement& row) {
  NodeSummary node{row.integer(0),
                   row.integer(1),
                   row.text(2),
                   row.text(3),
                   row.text(4),
                   row.text(5),
                   "",
                   count(row, 8),
                   optional_count(row, 9),
                   optional_count(row, 10)};
  if (!row.null(6)) {
    node.source = row.text(6) + ":" + row.text(7);
  }
  return node;
}

// Of a graph g: the one that ?1 names, or those of the last run that recorded any.
constexpr std::string_view kChosenGraphs =
    "(g.id=?1 OR (?1 IS NULL AND g.id IN (SELECT graph_id FROM recordings WHERE run_id=(SELECT "
    "max(run_id) FROM recordings))))";

std::string mode_name(std::int64_t mode) {
  return mode >= 0 && mode <= static_cast<int>(TimingMode::node_serialised)
             ? std::string(name_of(static_cast<TimingMode>(mode)))
             : "unknown (" + std::to_string(mode) + ")";
}

void require_graph(Database& database, std::optional<std::int64_t> graph) {
  if (graph && !Statement(database, "SELECT 1 FROM graphs WHERE id=?").find(*graph)) {
    Statement known(database,
                    "SELECT group_concat(id, ', ') FROM (SELECT id FROM graphs LIMIT 20)");
    const bool any = known.step() && !known.null(0);
    throw_invalid_argument("The profiling database (" + database.path() + ") has no graph (" +
                           std::to_string(*graph) + "); it has " + (any ? known.text(0) : "none") +
                           ".");
  }
}

NodeTimes times_of(const Statement& row) {
  const int first = kNodeColumnCount;
  NodeTimes times;
  times.node = node_of(row);
  times.phase = row.text(first);
  times.timing_mode = mode_name(row.integer(first + 1));
  times.replays = count(row, first + 2);
  times.total_ns = count(row, first + 3);
  times.p50_ns = count(row, first + 4);
  times.p95_ns = count(row, first + 5);
  times.min_ns = count(row, first + 6);
  times.max_ns = count(row, first + 7);
  times.below_bias = row.integer(first + 8) != 0;
  times.share = row.real(first + 9);
  return times;
}

}  // namespace

TopNodes read_top_nodes(const std::filesystem::path& path, const TopNodesQuery& query) {
  constexpr std::array kTables{"graphs",  "nodes",      "steps",
                               "kernels", "node_stats", "writer_health"};
  TopNodes top;
  read_snapshot(path, kTables, [&](Database& database) {
    top = {};
    require_graph(database, query.graph);
    top.run =
        Statement(database, "SELECT max(run_id) FROM node_stats WHERE ?1 IS NULL OR graph_id=?1")
            .find(query.graph);
    if (!top.run) {
      return;
    }
    const auto bias = Statement(database,
                                "SELECT timestamp_bias_ns FROM writer_health WHERE run_id=? ORDER "
                                "BY id DESC LIMIT 1")
                          .find(*top.run);
    if (bias && *bias >= 0) {
      top.timestamp_bias_ns = static_cast<std::uint64_t>(*bias);
    }
    Statement rows(database,
                   "SELECT " + std::string(kNodeColumns) +
                       ", s.phase, s.timing_mode, s.n, s.sum_ns, s.p50_ns, s.p95_ns, s.min_ns, "
                       "s.max_ns, 2.0*s.below_bias>=s.n, s.sum_ns/nullif(total(s.sum_ns) OVER "
                       "(PARTITION BY s.graph_id, s.phase, s.timing_mode), 0) FROM node_stats s "
                       "JOIN graphs g ON g.id=s.graph_id JOIN nodes n ON n.graph_id=s.graph_id AND "
                       "n.idx=s.idx WHERE s.run_id=?1 AND (?2 IS NULL OR s.graph_id=?2) AND "
                       "(?3 IS NULL OR s.phase=?3) ORDER BY " +
                       (query.order == NodeOrder::total ? "s.sum_ns" : "s.p50_ns") +
                       " DESC, s.graph_id, s.phase, s.timing_mode, s.idx LIMIT ?4");
    rows.bind_all(*top.run, query.graph,
                  query.phase ? std::optional<std::string_view>(*query.phase) : std::nullopt,
                  query.limit);
    while (rows.step()) {
      top.nodes.push_back(times_of(rows));
    }
  });
  return top;
}

std::vector<NodeSummary> read_nodes(const std::filesystem::path& path,
                                    std::optional<std::int64_t> graph) {
  constexpr std::array kTables{"graphs", "nodes", "steps", "kernels", "recordings"};
  std::vector<NodeSummary> nodes;
  read_snapshot(path, kTables, [&](Database& database) {
    nodes.clear();
    require_graph(database, graph);
    Statement rows(database, "SELECT " + std::string(kNodeColumns) +
                                 " FROM graphs g JOIN nodes n ON n.graph_id=g.id WHERE " +
                                 std::string(kChosenGraphs) + " ORDER BY g.id, n.idx");
    rows.bind_all(graph);
    while (rows.step()) {
      nodes.push_back(node_of(rows));
    }
  });
  return nodes;
}

std::vector<PassDecisionSummary> read_pass_decisions(const std::filesystem::path& path,
                                                     std::optional<std::int64_t> graph) {
  constexpr std::array kTables{"graphs", "nodes", "recordings", "pass_decisions"};
  std::vector<PassDecisionSummary> decisions;
  read_snapshot(path, kTables, [&](Database& database) {
    decisions.clear();
    require_graph(database, graph);
    Statement rows(database,
                   "SELECT g.id, g.name, p.pass, p.kind, p.node_idx, n.op, n.scope, p.applied, "
                   "p.reason, p.estimate_ns FROM graphs g JOIN pass_decisions p ON "
                   "p.graph_id=g.id LEFT JOIN nodes n ON n.graph_id=g.id AND n.idx=p.node_idx "
                   "WHERE " +
                       std::string(kChosenGraphs) + " ORDER BY g.id, p.pass, p.ordinal");
    rows.bind_all(graph);
    while (rows.step()) {
      decisions.push_back({rows.integer(0), rows.text(1), rows.text(2), rows.text(3),
                           rows.null(4) ? std::nullopt : std::optional(rows.integer(4)),
                           rows.text(5), rows.text(6), rows.integer(7) != 0, rows.text(8),
                           rows.null(9) ? std::nullopt : std::optional(rows.integer(9))});
    }
  });
  return decisions;
}

std::vector<ReplaySummary> read_replays(const std::filesystem::path& path, std::size_t limit) {
  constexpr std::array kTables{"graphs", "recordings", "replays", "step_timings"};
  std::vector<ReplaySummary> replays;
  read_snapshot(path, kTables, [&](Database& database) {
    replays.clear();
    Statement rows(database,
                   "SELECT r.id, c.run_id, g.id, g.name, r.phase, r.timing_mode, r.seq, "
                   "r.submission, r.iteration, r.slot, r.status, r.warm_up, EXISTS(SELECT 1 FROM "
                   "step_timings WHERE replay_id=r.id), r.prepare_ns, r.submit_ns, r.wait_ns, "
                   "r.device_ns FROM replays r JOIN recordings c ON c.id=r.recording_id JOIN "
                   "graphs g ON g.id=c.graph_id ORDER BY r.id DESC LIMIT ?");
    rows.bind_all(limit);
    while (rows.step()) {
      replays.push_back({rows.integer(0), rows.integer(1), rows.integer(2), rows.text(3),
                         rows.text(4), mode_name(rows.integer(5)), count(rows, 6), count(rows, 7),
                         count(rows, 8), count(rows, 9), count(rows, 10), rows.integer(11) != 0,
                         rows.integer(12) != 0, optional_count(rows, 13), optional_count(rows, 14),
                         optional_count(rows, 15), optional_count(rows, 16)});
    }
  });
  return replays;
}

}  // namespace reprise
