#include "framework/profile/capture_reader.h"

#include "framework/profile/captures.h"
#include "framework/profile/exit_state.h"

namespace reprise {
namespace profile {
namespace {

using Counts = std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t>;

/// Rows of run, graph, count.
Counts counts_of(Database& database, std::string_view sql) {
  Counts counts;
  Statement rows(database, sql);
  while (rows.step()) {
    counts[{rows.integer(0), rows.integer(1)}] = count(rows, 2);
  }
  return counts;
}

std::uint64_t count_in(const Counts& counts, CaptureId id) {
  const auto found = counts.find({id.run, id.graph});
  return found == counts.end() ? 0 : found->second;
}

/// A recording whose run or graph is missing is no capture.
void require_no_recordings(Database& database) {
  if (const std::int64_t rows = database.integer("SELECT count(*) FROM recordings"); rows > 0) {
    throw Error(ErrorCode::io, "The profiling database (" + database.path() +
                                   ") is damaged: it lacks the run or the graph of each of its (" +
                                   std::to_string(rows) + ") recordings.");
  }
}

}  // namespace

std::vector<CaptureSummary> captures_of(Database& database, std::optional<CaptureId> only) {
  const Counts replays =
      counts_of(database,
                "SELECT c.run_id, c.graph_id, sum(r.n) FROM (SELECT recording_id, count(*) AS n "
                "FROM replays GROUP BY recording_id) r CROSS JOIN recordings c ON "
                "c.id=r.recording_id GROUP BY 1, 2");
  // Few replays keep their step times, so the search begins with those.
  const Counts timed =
      counts_of(database,
                "SELECT c.run_id, c.graph_id, count(*) FROM step_timings t CROSS JOIN replays r ON "
                "r.id=t.replay_id CROSS JOIN recordings c ON c.id=r.recording_id GROUP BY 1, 2");
  std::vector<CaptureSummary> captures;
  Statement rows(
      database,
      "SELECT c.run_id, c.graph_id, g.name, r.app, r.label, r.start_utc, d.name, "
      "r.exit_state, r.heartbeat_ns, h.machine_id_hash, g.node_count, r.run_uuid, g.content_hash, "
      "(SELECT timestamp_bias_ns FROM writer_health w WHERE w.run_id=c.run_id ORDER BY w.id DESC "
      "LIMIT 1) FROM (SELECT run_id, graph_id, min(id) AS first FROM recordings GROUP BY 1, 2) c "
      "JOIN recordings f ON f.id=c.first JOIN runs r ON r.id=c.run_id JOIN graphs g ON "
      "g.id=c.graph_id LEFT JOIN devices d ON d.id=f.device_id LEFT JOIN hosts h ON "
      "h.id=r.host_id WHERE ?1 IS NULL OR (c.run_id=?1 AND c.graph_id=?2) "
      "ORDER BY c.run_id DESC, c.graph_id");
  rows.bind_all(only ? std::optional(only->run) : std::nullopt,
                only ? std::optional(only->graph) : std::nullopt);
  while (rows.step()) {
    CaptureSummary c;
    c.id = {rows.integer(0), rows.integer(1)};
    c.name = rows.text(2);
    c.app = rows.text(3);
    c.label = rows.text(4);
    c.start_utc = rows.text(5);
    c.device = rows.text(6);
    c.exit_state = exit_state(rows, 7, 8, 9);
    c.nodes = count(rows, 10);
    c.run_uuid = rows.text(11);
    c.content_hash = rows.text(12);
    c.timestamp_bias_ns = optional_count(rows, 13);
    c.replays = count_in(replays, c.id);
    c.timed_replays = count_in(timed, c.id);
    captures.push_back(std::move(c));
  }
  return captures;
}

CaptureSummary require_capture(Database& database, CaptureId id) {
  std::vector<CaptureSummary> found = captures_of(database, id);
  if (found.empty()) {
    throw_invalid_argument("The profiling database (" + database.path() +
                           ") has no capture of graph (" + std::to_string(id.graph) + ") in run (" +
                           std::to_string(id.run) + ").");
  }
  return std::move(found.front());
}

}  // namespace profile

std::vector<CaptureSummary> read_captures(const std::filesystem::path& path,
                                          const std::stop_token& stop) {
  std::vector<CaptureSummary> captures;
  profile::read_snapshot(
      path, profile::kCaptureTables,
      [&](profile::Database& database) {
        captures = profile::captures_of(database, {});
        if (captures.empty()) {
          profile::require_no_recordings(database);
        }
      },
      stop);
  return captures;
}

}  // namespace reprise
