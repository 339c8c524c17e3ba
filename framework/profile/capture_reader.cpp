#include "framework/profile/capture_reader.h"

#include "framework/profile/captures.h"
#include "framework/profile/exit_state.h"

namespace reprise {
namespace profile {
namespace {

/// A recording whose run or graph is missing is no capture.
void require_no_recordings(Database& database) {
  if (const std::int64_t rows = database.integer("SELECT count(*) FROM recordings"); rows > 0) {
    throw_error(ErrorCode::io, "The profiling database (", database.path(),
                ") is damaged: it lacks the run or the graph of each of its (", rows,
                ") recordings.");
  }
}

/// Returns the first row of a query for run, graph, replay.
template <class... Values>
std::optional<SelectedCapture> find_capture(Database& database, std::string_view sql,
                                            const Values&... values) {
  const auto rows = read_rows<SelectedCapture>(
      database, sql,
      [](const Statement& row, SelectedCapture& c) {
        read_columns(row, 0, c.capture.run, c.capture.graph, c.replay);
      },
      values...);
  return rows.empty() ? std::nullopt : std::optional(rows.front());
}

SelectedCapture of_replay(Database& database, std::int64_t replay,
                          std::optional<std::int64_t> graph) {
  const auto choice = find_capture(database,
                                   "SELECT c.run_id, c.graph_id, r.id FROM replays r JOIN "
                                   "recordings c ON c.id=r.recording_id WHERE r.id=?",
                                   replay);
  if (!choice) {
    throw_invalid_argument("The profiling database (", database.path(), ") has no replay (", replay,
                           "); `reprise db replays` lists them.");
  }
  if (graph && *graph != choice->capture.graph) {
    throw_invalid_argument("The replay (", replay, ") is of graph (", choice->capture.graph,
                           "), not of graph (", *graph, ").");
  }
  return *choice;
}

SelectedCapture latest(Database& database, std::optional<std::int64_t> graph) {
  auto choice =
      find_capture(database,
                   "SELECT c.run_id, c.graph_id, t.replay_id FROM step_timings t CROSS JOIN "
                   "replays r ON r.id=t.replay_id CROSS JOIN recordings c ON c.id=r.recording_id "
                   "WHERE ?1 IS NULL OR c.graph_id=?1 ORDER BY c.run_id DESC, t.replay_id DESC "
                   "LIMIT 1",
                   graph);
  if (!choice) {
    choice = find_capture(database,
                          "SELECT run_id, graph_id, NULL FROM recordings WHERE ?1 IS NULL OR "
                          "graph_id=?1 ORDER BY run_id DESC, id DESC LIMIT 1",
                          graph);
  }
  if (!choice) {
    throw_invalid_argument("The profiling database (", database.path(), ") has no ",
                           (graph ? "recording of graph (" + std::to_string(*graph) + "); it has " +
                                        known_graphs(database) + "."
                                  : "graphs."));
  }
  return *choice;
}

}  // namespace

std::vector<CaptureSummary> captures_of(Database& database, std::optional<CaptureId> only) {
  // Few replays keep their step times, so the count of those begins with the times.
  return read_rows<CaptureSummary>(
      database,
      "SELECT r.exit_state, r.heartbeat_ns, h.machine_id_hash, c.run_id, c.graph_id, g.name, "
      "r.app, r.label, r.start_utc, d.name, g.node_count, a.n, t.n, "
      "(SELECT timestamp_bias_ns FROM writer_health w WHERE w.run_id=c.run_id ORDER BY w.id DESC "
      "LIMIT 1), r.run_uuid, g.content_hash "
      "FROM (SELECT run_id, graph_id, min(id) AS first FROM recordings GROUP BY 1, 2) c "
      "JOIN recordings f ON f.id=c.first JOIN runs r ON r.id=c.run_id JOIN graphs g ON "
      "g.id=c.graph_id LEFT JOIN devices d ON d.id=f.device_id LEFT JOIN hosts h ON "
      "h.id=r.host_id LEFT JOIN (SELECT c.run_id, c.graph_id, sum(r.n) AS n FROM (SELECT "
      "recording_id, count(*) AS n FROM replays GROUP BY recording_id) r CROSS JOIN recordings c "
      "ON c.id=r.recording_id GROUP BY 1, 2) a ON a.run_id=c.run_id AND a.graph_id=c.graph_id "
      "LEFT JOIN (SELECT c.run_id, c.graph_id, count(*) AS n FROM step_timings t CROSS JOIN "
      "replays r ON r.id=t.replay_id CROSS JOIN recordings c ON c.id=r.recording_id GROUP BY 1, 2) "
      "t ON t.run_id=c.run_id AND t.graph_id=c.graph_id "
      "WHERE ?1 IS NULL OR (c.run_id=?1 AND c.graph_id=?2) ORDER BY c.run_id DESC, c.graph_id",
      [](const Statement& row, CaptureSummary& c) {
        c.exit_state = exit_state(row, 0, 1, 2);
        read_columns(row, 3, c.id.run, c.id.graph, c.name, c.app, c.label, c.start_utc, c.device,
                     c.nodes, c.replays, c.timed_replays, c.timestamp_bias_ns, c.run_uuid,
                     c.content_hash);
      },
      only ? std::optional(only->run) : std::nullopt,
      only ? std::optional(only->graph) : std::nullopt);
}

std::string known_graphs(Database& database) {
  Statement known(database, "SELECT group_concat(id, ', ') FROM (SELECT id FROM graphs LIMIT 20)");
  return known.step() && !known.null(0) ? known.text(0) : "none";
}

CaptureSummary require_capture(Database& database, CaptureId id) {
  std::vector<CaptureSummary> found = captures_of(database, id);
  if (found.empty()) {
    throw_invalid_argument("The profiling database (", database.path(),
                           ") has no capture of graph (", id.graph, ") in run (", id.run, ").");
  }
  return std::move(found.front());
}

}  // namespace profile

std::vector<CaptureSummary> read_captures(const std::filesystem::path& path,
                                          const std::stop_token& stop) {
  return profile::read_snapshot(
      path, profile::kCaptureTables,
      [&](profile::Database& database) {
        std::vector<CaptureSummary> captures = profile::captures_of(database, {});
        if (captures.empty()) {
          profile::require_no_recordings(database);
        }
        return captures;
      },
      stop);
}

SelectedCapture choose_capture(const std::filesystem::path& path, const CaptureSelector& wish) {
  constexpr std::array kTables{"runs", "graphs", "recordings", "replays", "step_timings"};
  return profile::read_snapshot(path, kTables, [&](profile::Database& database) {
    return wish.replay ? profile::of_replay(database, *wish.replay, wish.graph)
                       : profile::latest(database, wish.graph);
  });
}

std::vector<BufferSummary> read_buffers(const std::filesystem::path& path, CaptureId id) {
  constexpr std::array kTables{"runs", "buffers", "recordings", "recording_pools"};
  return profile::read_snapshot(path, kTables, [&](profile::Database& database) {
    return profile::read_rows<BufferSummary>(
        database,
        "SELECT b.id, b.name, b.kind, b.size_bytes, b.t_alloc_ns-r.t_start_ns, "
        "b.t_free_ns-r.t_start_ns, (SELECT p.pool_idx FROM recordings c JOIN recording_pools p ON "
        "p.recording_id=c.id WHERE c.run_id=?1 AND c.graph_id=?2 AND p.buffer_id=b.id LIMIT 1) "
        "FROM buffers b JOIN runs r ON r.id=b.run_id WHERE b.run_id=?1 ORDER BY b.id",
        [](const profile::Statement& row, BufferSummary& b) {
          profile::read_columns(row, 0, b.id, b.name, b.kind, b.bytes, b.allocated_ns, b.freed_ns,
                                b.pool);
        },
        id.run, id.graph);
  });
}

}  // namespace reprise
