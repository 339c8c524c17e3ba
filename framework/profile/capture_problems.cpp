// What the readers of a capture's times leave out of a file, counted by the opposite of what they
// ask for.
#include <algorithm>
#include <string>

#include "framework/profile/captures.h"

namespace reprise {

namespace profile {

void add_problem(std::vector<FileProblem>& problems, std::uint64_t rows, const std::string& table,
                 const std::string& what) {
  if (rows > 0) {
    problems.push_back({table, std::to_string(rows) + " " + what});
  }
}

void add_problems_of_runs(Database& database, Capture& capture) {
  const CaptureId id = capture.summary.id;
  const auto left_out = [&](const char* table, const std::string& why, const std::string& count,
                            const auto&... values) {
    const auto rows = static_cast<std::uint64_t>(database.integer("SELECT " + count, values...));
    note_left_out(capture.problems, rows, table, why);
  };
  left_out("recordings", "the file has no such run or graph",
           "count(*) FROM recordings c WHERE NOT EXISTS(SELECT 1 FROM runs WHERE id=c.run_id) OR "
           "NOT EXISTS(SELECT 1 FROM graphs WHERE id=c.graph_id)");
  // By groups: the index has them in order, and a run may have a million replays.
  left_out("replays", "the file has no such recording",
           "sum(n) FROM (SELECT recording_id, count(*) AS n FROM replays GROUP BY recording_id) r "
           "WHERE NOT EXISTS(SELECT 1 FROM recordings WHERE id=r.recording_id)");
  left_out("node_stats",
           "they are of nodes or timing modes that there are not, or have times that cannot be",
           "count(*) FROM node_stats WHERE graph_id=? AND run_id=? AND n IS NOT 0 AND (" +
               std::string(kSoundNodeTimes) + " AND idx BETWEEN 0 AND ?-1) IS NOT TRUE",
           id.graph, id.run, capture.nodes.size());
  const std::int64_t tables = database.integer(
      "SELECT count(DISTINCT phase || timing_mode) FROM node_stats WHERE graph_id=? AND run_id=? "
      "AND " +
          std::string(kSoundNodeTimes),
      id.graph, id.run);
  if (tables > static_cast<std::int64_t>(kMaxNodeTables)) {
    capture.problems.push_back({"node_stats", "Times of (" + std::to_string(tables) +
                                                  ") phases and timing modes are in the file; the "
                                                  "first " +
                                                  std::to_string(kMaxNodeTables) + " are read."});
  }
  left_out("step_timings",
           "they are not times of (" + std::to_string(capture.steps.size()) + ") steps",
           "count(*) FROM step_timings t CROSS JOIN replays r ON r.id=t.replay_id CROSS JOIN "
           "recordings c ON c.id=r.recording_id WHERE c.graph_id=? AND c.run_id=? AND (" +
               std::string(kSoundStepTimes) + "?) IS NOT TRUE",
           id.graph, id.run, capture.steps.size());
}

}  // namespace profile

void note_left_out(std::vector<FileProblem>& problems, std::uint64_t rows, const std::string& table,
                   std::string_view why) {
  profile::add_problem(problems, rows, table,
                       "rows of " + table + " were left out: " + std::string(why) + ".");
}

}  // namespace reprise
