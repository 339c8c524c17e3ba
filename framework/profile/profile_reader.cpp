#include "framework/profile/profile_reader.h"

#include <algorithm>
#include <array>
#include <map>

#include "framework/profile/captures.h"
#include "framework/profile/exit_state.h"
#include "reprise/profile.h"

namespace reprise {
namespace {

using profile::Database;
using profile::read_columns;
using profile::read_rows;
using profile::read_snapshot;
using profile::Statement;

std::vector<RunSummary> read_runs(Database& database) {
  return read_rows<RunSummary>(
      database,
      "SELECT r.exit_state, r.heartbeat_ns, h.machine_id_hash, r.id, r.label, r.app, r.start_utc, "
      "h.hostname, (SELECT name FROM devices WHERE id=coalesce("
      "(SELECT device_id FROM recordings WHERE run_id=r.id ORDER BY id LIMIT 1),"
      "(SELECT device_id FROM sessions WHERE run_id=r.id ORDER BY id LIMIT 1))), "
      "(SELECT count(*) FROM recordings WHERE run_id=r.id), "
      "(SELECT count(*) FROM recordings c JOIN replays p ON p.recording_id=c.id "
      "WHERE c.run_id=r.id) FROM runs r LEFT JOIN hosts h ON h.id=r.host_id ORDER BY r.id",
      [](const Statement& row, RunSummary& r) {
        r.exit_state = profile::exit_state(row, 0, 1, 2);
        read_columns(row, 3, r.id, r.label, r.app, r.start_utc, r.hostname, r.device, r.recordings,
                     r.replays);
      });
}

std::optional<std::int64_t> median(std::vector<std::int64_t>& values) {
  if (values.empty()) {
    return std::nullopt;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct ReplayTimes {
  std::uint64_t replays = 0;
  std::vector<std::int64_t> device, submit;
};

/// By graph. One pass over all replays: a query per graph would look through all recordings.
std::map<std::int64_t, ReplayTimes> read_replay_times(Database& database) {
  std::map<std::int64_t, ReplayTimes> times;
  Statement query(database,
                  "SELECT c.graph_id, p.warm_up, p.device_ns, p.submit_ns FROM recordings c CROSS "
                  "JOIN replays p ON p.recording_id=c.id");
  while (query.step()) {
    ReplayTimes& of = times[query.integer(0)];
    ++of.replays;
    for (const int column : {2, 3}) {
      if (query.integer(1) == 0 && !query.null(column)) {
        (column == 2 ? of.device : of.submit).push_back(query.integer(column));
      }
    }
  }
  return times;
}

std::vector<GraphSummary> read_graphs(Database& database) {
  auto graphs = read_rows<GraphSummary>(
      database,
      "SELECT id, name, node_count, step_count, barrier_count, edge_count, arena_bytes, "
      "naive_bytes, live_peak_bytes FROM graphs ORDER BY id",
      [](const Statement& row, GraphSummary& g) {
        read_columns(row, 0, g.id, g.name, g.nodes, g.steps, g.barriers, g.edges, g.arena_bytes,
                     g.naive_bytes, g.live_peak_bytes);
      });
  std::map<std::int64_t, ReplayTimes> times = read_replay_times(database);
  for (GraphSummary& graph : graphs) {
    ReplayTimes& of = times[graph.id];
    graph.replays = of.replays;
    graph.median_device_ns = median(of.device);
    graph.median_submit_ns = median(of.submit);
  }
  return graphs;
}

std::vector<TableSummary> read_tables(Database& database) {
  return read_rows<TableSummary>(
      database,
      "SELECT name, printf('SELECT count(*) FROM \"%w\"', name) FROM sqlite_schema WHERE "
      "type='table' AND rootpage>0 AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
      [&](const Statement& row, TableSummary& table) {
        table.name = row.text(0);
        table.rows = static_cast<std::uint64_t>(database.integer(row.text(1)));
      });
}

// Of a node n of a graph g: the columns of NodeSummary.
constexpr std::string_view kNodeColumns =
    "g.id, n.idx, g.name, n.op, n.scope, "
    "(SELECT group_concat(DISTINCT k.name) FROM steps d JOIN kernels k ON k.id=d.kernel_id "
    "WHERE d.graph_id=g.id AND d.node_idx=n.idx), n.src_file||':'||coalesce(n.src_line, ''), "
    "(SELECT count(*) FROM steps d WHERE d.graph_id=g.id AND d.node_idx=n.idx), "
    "n.flops, n.read_bytes+n.write_bytes";
constexpr int kNodeColumnCount = 10;

void read_node(const Statement& row, NodeSummary& n) {
  read_columns(row, 0, n.graph, n.index, n.graph_name, n.op, n.scope, n.kernels, n.source, n.steps,
               n.flops, n.bytes);
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
    throw_invalid_argument("The profiling database (", database.path(), ") has no graph (", *graph,
                           "); it has ", profile::known_graphs(database), ".");
  }
}

}  // namespace

DatabaseInfo read_profile_info(const std::filesystem::path& path) {
  constexpr std::array kTables{"runs",       "hosts",   "devices", "graphs",
                               "recordings", "replays", "sessions"};
  return read_snapshot(path, kTables, [&](Database& database) {
    DatabaseInfo info;
    info.path = path;
    info.schema_version = database.integer("PRAGMA user_version");
    info.bytes = profile::bytes_with_log(path);
    info.runs = read_runs(database);
    info.graphs = read_graphs(database);
    info.tables = read_tables(database);
    return info;
  });
}

TopNodes read_top_nodes(const std::filesystem::path& path, const TopNodesQuery& query) {
  constexpr std::array kTables{"graphs",  "nodes",      "steps",
                               "kernels", "node_stats", "writer_health"};
  return read_snapshot(path, kTables, [&](Database& database) {
    TopNodes top;
    require_graph(database, query.graph);
    top.run =
        Statement(database, "SELECT max(run_id) FROM node_stats WHERE ?1 IS NULL OR graph_id=?1")
            .find(query.graph);
    if (!top.run) {
      return top;
    }
    const auto bias = Statement(database,
                                "SELECT timestamp_bias_ns FROM writer_health WHERE run_id=? ORDER "
                                "BY id DESC LIMIT 1")
                          .find(*top.run);
    if (bias && *bias >= 0) {
      top.timestamp_bias_ns = static_cast<std::uint64_t>(*bias);
    }
    top.nodes = read_rows<NodeTimes>(
        database,
        "SELECT " + std::string(kNodeColumns) +
            ", s.timing_mode, s.phase, s.n, s.sum_ns, s.p50_ns, s.p95_ns, s.min_ns, s.max_ns, "
            "2.0*s.below_bias>=s.n, s.sum_ns/nullif(total(s.sum_ns) OVER (PARTITION BY s.graph_id, "
            "s.phase, s.timing_mode), 0) FROM node_stats s JOIN graphs g ON g.id=s.graph_id JOIN "
            "nodes n ON n.graph_id=s.graph_id AND n.idx=s.idx WHERE s.run_id=?1 AND (?2 IS NULL OR "
            "s.graph_id=?2) AND (?3 IS NULL OR s.phase=?3) ORDER BY " +
            (query.order == NodeOrder::total ? "s.sum_ns" : "s.p50_ns") +
            " DESC, s.graph_id, s.phase, s.timing_mode, s.idx LIMIT ?4",
        [](const Statement& row, NodeTimes& t) {
          read_node(row, t.node);
          t.timing_mode = mode_name(row.integer(kNodeColumnCount));
          read_columns(row, kNodeColumnCount + 1, t.phase, t.replays, t.total_ns, t.p50_ns,
                       t.p95_ns, t.min_ns, t.max_ns, t.below_bias, t.share);
        },
        *top.run, query.graph, query.phase, query.limit);
    return top;
  });
}

std::vector<NodeSummary> read_nodes(const std::filesystem::path& path,
                                    std::optional<std::int64_t> graph) {
  constexpr std::array kTables{"graphs", "nodes", "steps", "kernels", "recordings"};
  return read_snapshot(path, kTables, [&](Database& database) {
    require_graph(database, graph);
    return read_rows<NodeSummary>(database,
                                  "SELECT " + std::string(kNodeColumns) +
                                      " FROM graphs g JOIN nodes n ON n.graph_id=g.id WHERE " +
                                      std::string(kChosenGraphs) + " ORDER BY g.id, n.idx",
                                  read_node, graph);
  });
}

std::vector<PassDecisionSummary> read_pass_decisions(const std::filesystem::path& path,
                                                     std::optional<std::int64_t> graph) {
  constexpr std::array kTables{"graphs", "nodes", "recordings", "pass_decisions"};
  return read_snapshot(path, kTables, [&](Database& database) {
    require_graph(database, graph);
    return read_rows<PassDecisionSummary>(
        database,
        "SELECT g.id, g.name, p.pass, p.kind, p.node_idx, n.op, n.scope, p.applied, p.reason, "
        "p.estimate_ns FROM graphs g JOIN pass_decisions p ON p.graph_id=g.id LEFT JOIN nodes n ON "
        "n.graph_id=g.id AND n.idx=p.node_idx WHERE " +
            std::string(kChosenGraphs) + " ORDER BY g.id, p.pass, p.ordinal",
        [](const Statement& row, PassDecisionSummary& d) {
          read_columns(row, 0, d.graph, d.graph_name, d.pass, d.kind, d.node, d.op, d.scope,
                       d.applied, d.reason, d.estimate_ns);
        },
        graph);
  });
}

std::vector<ReplaySummary> read_replays(const std::filesystem::path& path, std::size_t limit) {
  constexpr std::array kTables{"graphs", "recordings", "replays", "step_timings"};
  return read_snapshot(path, kTables, [&](Database& database) {
    return read_rows<ReplaySummary>(
        database,
        "SELECT r.timing_mode, r.id, c.run_id, g.id, g.name, r.phase, r.seq, r.submission, "
        "r.iteration, r.slot, r.status, r.warm_up, EXISTS(SELECT 1 FROM step_timings WHERE "
        "replay_id=r.id), r.prepare_ns, r.submit_ns, r.wait_ns, r.device_ns FROM replays r JOIN "
        "recordings c ON c.id=r.recording_id JOIN graphs g ON g.id=c.graph_id ORDER BY r.id DESC "
        "LIMIT ?",
        [](const Statement& row, ReplaySummary& r) {
          r.timing_mode = mode_name(row.integer(0));
          read_columns(row, 1, r.id, r.run, r.graph, r.graph_name, r.phase, r.sequence,
                       r.submission, r.iteration, r.slot, r.status, r.warm_up, r.has_step_times,
                       r.prepare_ns, r.submit_ns, r.wait_ns, r.device_ns);
        },
        limit);
  });
}

}  // namespace reprise
