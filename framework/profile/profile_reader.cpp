#include "framework/profile/profile_reader.h"

#include <algorithm>
#include <array>
#include <map>

#include "framework/profile/exit_state.h"
#include "framework/profile/profile_snapshot.h"

namespace reprise {
namespace {

using profile::count;
using profile::Database;
using profile::exit_state;
using profile::Statement;

std::string identifier(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) {
    text += c;
    if (c == '"') {
      text += c;
    }
  }
  return text + "\"";
}

std::vector<RunSummary> read_runs(Database& database) {
  std::vector<RunSummary> runs;
  Statement query(
      database,
      "SELECT r.id, r.label, r.app, r.start_utc, h.hostname, "
      "(SELECT name FROM devices WHERE id=coalesce("
      "(SELECT device_id FROM recordings WHERE run_id=r.id ORDER BY id LIMIT 1),"
      "(SELECT device_id FROM sessions WHERE run_id=r.id ORDER BY id LIMIT 1))), "
      "r.exit_state, r.heartbeat_ns, h.machine_id_hash, "
      "(SELECT count(*) FROM recordings WHERE run_id=r.id), "
      "(SELECT count(*) FROM recordings c JOIN replays p ON p.recording_id=c.id "
      "WHERE c.run_id=r.id) FROM runs r LEFT JOIN hosts h ON h.id=r.host_id ORDER BY r.id");
  while (query.step()) {
    runs.push_back({query.integer(0), query.text(1), query.text(2), query.text(3), query.text(4),
                    query.text(5), exit_state(query, 6, 7, 8), count(query, 9), count(query, 10)});
  }
  return runs;
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
std::map<std::int64_t, ReplayTimes> read_replays(Database& database) {
  std::map<std::int64_t, ReplayTimes> times;
  Statement query(database,
                  "SELECT c.graph_id, p.warm_up, p.device_ns, p.submit_ns FROM recordings c CROSS "
                  "JOIN replays p ON p.recording_id=c.id");
  while (query.step()) {
    ReplayTimes& of = times[query.integer(0)];
    ++of.replays;
    if (query.integer(1) == 0) {
      if (!query.null(2)) {
        of.device.push_back(query.integer(2));
      }
      if (!query.null(3)) {
        of.submit.push_back(query.integer(3));
      }
    }
  }
  return times;
}

std::vector<GraphSummary> read_graphs(Database& database) {
  std::vector<GraphSummary> graphs;
  Statement query(database,
                  "SELECT id, name, node_count, step_count, barrier_count, edge_count, "
                  "arena_bytes, naive_bytes, live_peak_bytes FROM graphs ORDER BY id");
  while (query.step()) {
    GraphSummary graph;
    graph.id = query.integer(0);
    graph.name = query.text(1);
    graph.nodes = count(query, 2);
    graph.steps = count(query, 3);
    graph.barriers = count(query, 4);
    graph.edges = count(query, 5);
    graph.arena_bytes = count(query, 6);
    graph.naive_bytes = count(query, 7);
    graph.live_peak_bytes = count(query, 8);
    graphs.push_back(std::move(graph));
  }
  std::map<std::int64_t, ReplayTimes> times = read_replays(database);
  for (GraphSummary& graph : graphs) {
    ReplayTimes& of = times[graph.id];
    graph.replays = of.replays;
    graph.median_device_ns = median(of.device);
    graph.median_submit_ns = median(of.submit);
  }
  return graphs;
}

std::vector<TableSummary> read_tables(Database& database) {
  std::vector<TableSummary> tables;
  Statement query(database,
                  "SELECT name FROM sqlite_schema WHERE type='table' AND rootpage>0 AND name NOT "
                  "LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name");
  while (query.step()) {
    tables.push_back({query.text(0), 0});
  }
  for (TableSummary& table : tables) {
    table.rows = static_cast<std::uint64_t>(
        database.integer("SELECT count(*) FROM " + identifier(table.name)));
  }
  return tables;
}

}  // namespace

DatabaseInfo read_profile_info(const std::filesystem::path& path) {
  constexpr std::array kTables{"runs",       "hosts",   "devices", "graphs",
                               "recordings", "replays", "sessions"};
  DatabaseInfo info;
  profile::read_snapshot(path, kTables, [&](Database& database) {
    info = {};
    info.path = path;
    info.schema_version = database.integer("PRAGMA user_version");
    for (const char* suffix : {"", "-wal"}) {
      std::error_code absent;
      const std::uintmax_t size = std::filesystem::file_size(path.string() + suffix, absent);
      info.bytes += absent ? 0 : size;
    }
    info.runs = read_runs(database);
    info.graphs = read_graphs(database);
    info.tables = read_tables(database);
  });
  return info;
}

}  // namespace reprise
