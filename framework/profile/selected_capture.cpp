#include "framework/profile/selected_capture.h"

#include <array>

#include "framework/profile/profile_snapshot.h"

namespace reprise {
namespace profile {
namespace {

constexpr std::array kTables{"runs", "graphs", "recordings", "replays", "step_timings"};
constexpr std::array kBufferTables{"runs", "buffers", "recordings", "recording_pools"};

std::string known_graphs(Database& database) {
  Statement known(database, "SELECT group_concat(id, ', ') FROM (SELECT id FROM graphs LIMIT 20)");
  return known.step() && !known.null(0) ? known.text(0) : "none";
}

[[noreturn]] void no_graph(Database& database, std::int64_t graph) {
  throw_invalid_argument("The profiling database (" + database.path() +
                         ") has no recording of graph (" + std::to_string(graph) + "); it has " +
                         known_graphs(database) + ".");
}

std::optional<SelectedCapture> first_row(Statement& rows) {
  std::optional<SelectedCapture> choice;
  while (rows.step()) {
    if (!choice) {
      choice = {{rows.integer(0), rows.integer(1)},
                rows.null(2) ? std::nullopt : std::optional(rows.integer(2))};
    }
  }
  return choice;
}

SelectedCapture of_replay(Database& database, std::int64_t replay,
                          std::optional<std::int64_t> graph) {
  Statement rows(database,
                 "SELECT c.run_id, c.graph_id, r.id FROM replays r JOIN recordings c ON "
                 "c.id=r.recording_id WHERE r.id=?");
  rows.bind_all(replay);
  const std::optional<SelectedCapture> choice = first_row(rows);
  if (!choice) {
    throw_invalid_argument("The profiling database (" + database.path() + ") has no replay (" +
                           std::to_string(replay) + "); `reprise db replays` lists them.");
  }
  if (graph && *graph != choice->capture.graph) {
    throw_invalid_argument("The replay (" + std::to_string(replay) + ") is of graph (" +
                           std::to_string(choice->capture.graph) + "), not of graph (" +
                           std::to_string(*graph) + ").");
  }
  return *choice;
}

SelectedCapture latest(Database& database, std::optional<std::int64_t> graph) {
  Statement timed(database,
                  "SELECT c.run_id, c.graph_id, t.replay_id FROM step_timings t CROSS JOIN replays "
                  "r ON r.id=t.replay_id CROSS JOIN recordings c ON c.id=r.recording_id WHERE ?1 "
                  "IS NULL OR c.graph_id=?1 ORDER BY c.run_id DESC, t.replay_id DESC LIMIT 1");
  timed.bind_all(graph);
  if (const auto choice = first_row(timed)) {
    return *choice;
  }
  Statement any(database,
                "SELECT run_id, graph_id, NULL FROM recordings WHERE ?1 IS NULL OR graph_id=?1 "
                "ORDER BY run_id DESC, id DESC LIMIT 1");
  any.bind_all(graph);
  if (const auto choice = first_row(any)) {
    return *choice;
  }
  if (graph) {
    no_graph(database, *graph);
  }
  throw_invalid_argument("The profiling database (" + database.path() + ") has no graphs.");
}

std::optional<std::int64_t> since(const Statement& row, int column, int start) {
  return row.null(column) ? std::nullopt
                          : std::optional(static_cast<std::int64_t>(
                                static_cast<std::uint64_t>(row.integer(column)) -
                                static_cast<std::uint64_t>(row.integer(start))));
}

}  // namespace
}  // namespace profile

SelectedCapture choose_capture(const std::filesystem::path& path, const CaptureSelector& wish) {
  SelectedCapture choice;
  profile::read_snapshot(path, profile::kTables, [&](profile::Database& database) {
    choice = wish.replay ? profile::of_replay(database, *wish.replay, wish.graph)
                         : profile::latest(database, wish.graph);
  });
  return choice;
}

std::vector<BufferSummary> read_buffers(const std::filesystem::path& path, CaptureId id) {
  std::vector<BufferSummary> buffers;
  profile::read_snapshot(path, profile::kBufferTables, [&](profile::Database& database) {
    buffers.clear();
    profile::Statement rows(
        database,
        "SELECT b.id, b.name, b.kind, b.size_bytes, b.t_alloc_ns, b.t_free_ns, r.t_start_ns, "
        "(SELECT p.pool_idx FROM recordings c JOIN recording_pools p ON p.recording_id=c.id WHERE "
        "c.run_id=?1 AND c.graph_id=?2 AND p.buffer_id=b.id LIMIT 1) FROM buffers b JOIN runs r ON "
        "r.id=b.run_id WHERE b.run_id=?1 ORDER BY b.id");
    rows.bind_all(id.run, id.graph);
    while (rows.step()) {
      buffers.push_back({rows.integer(0), rows.text(1), rows.text(2), profile::count(rows, 3),
                         profile::since(rows, 4, 6).value_or(0), profile::since(rows, 5, 6),
                         rows.null(7) ? std::nullopt : std::optional(rows.integer(7))});
    }
  });
  return buffers;
}

}  // namespace reprise
