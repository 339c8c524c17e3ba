#include "framework/profile/profile_check.h"

#include "framework/profile/exit_state.h"
#include "framework/profile/profile_snapshot.h"
#include "framework/profile/table_list.h"

namespace reprise {
namespace profile {
namespace {

constexpr std::int64_t kMaxFindings = 100;  // of one query

constexpr std::array kCauseTables{"barrier_causes"};
constexpr std::int64_t kTensorsSince = 2, kCausesSince = 3;  // versions of the schema

using Names = std::initializer_list<const char*>;

class Checker {
 public:
  Checker(Database& database, std::vector<ProfileFinding>& findings)
      : database_(database), findings_(findings) {}

  /// Every row of the query is a finding, its first column the sentence.
  void each(const char* about, const std::string& sql) {
    try {
      Statement rows(database_, sql);
      for (std::int64_t found = 0; found < kMaxFindings && rows.step(); ++found) {
        findings_.push_back({about, rows.text(0)});
      }
    } catch (const SqliteError& error) {
      findings_.push_back({"integrity", "reading failed: " + error.reason()});
    }
  }

  void integrity() {
    each("integrity",
         "SELECT integrity_check FROM pragma_integrity_check(100) WHERE integrity_check<>'ok'");
    each("references",
         "SELECT count(*) || ' rows of ' || \"table\" || ' name a row of ' || \"parent\" || ' that "
         "it does not have' FROM pragma_foreign_key_check GROUP BY \"table\", \"parent\"");
  }

  void counts() {
    for (const std::string one : {"node", "step", "edge", "barrier"}) {
      const std::string rows = "(SELECT count(*) FROM " + one + "s WHERE graph_id=g.id)";
      each("counts", "SELECT 'graph ' || g.id || ' has ' || " + rows + " || ' " + one +
                         "s, but says ' || coalesce(g." + one +
                         "_count, 'nothing') FROM graphs g WHERE g." + one + "_count IS NOT " +
                         rows);
    }
    for (const std::string table : {"nodes", "steps", "tensors", "pools", "state_fields"}) {
      each("counts", "SELECT 'the ' || count(*) || ' " + table +
                         " of graph ' || graph_id || ' are numbered ' || min(idx) || ' to ' || "
                         "max(idx) FROM " +
                         table +
                         " GROUP BY graph_id HAVING min(idx)<>0 OR "
                         "max(idx)<>count(*)-1");
    }
  }

  void references() {
    in_graph("steps", {"node_idx"}, "nodes");
    in_graph("node_tensors", {"node_idx"}, "nodes");
    in_graph("node_tensors", {"tensor_idx"}, "tensors");
    in_graph("edges", {"src", "dst"}, "nodes");
    in_graph("edges", {"tensor_idx"}, "tensors");
    in_graph("barriers", {"before_step", "cause_src", "cause_dst"}, "steps");
    in_graph("barriers", {"pool_idx"}, "pools");
    in_graph("tensors", {"pool_idx"}, "pools");
    in_graph("tensors", {"alias_of"}, "tensors");
    in_graph("tensors", {"first_use", "last_use"}, "steps");
    in_graph("node_stats", {"idx"}, "nodes");
    const std::int64_t version = database_.integer("PRAGMA user_version");
    if (version >= kTensorsSince) {
      for (const char* table : {"tensor_stats", "snapshots", "comparisons"}) {
        in_graph(table, {"tensor_idx"}, "tensors");
        in_graph(table, {"node_idx"}, "nodes");
      }
    }
    if (version >= kCausesSince) {
      in_graph("barrier_causes", {"src_step"}, "steps");
      in_graph("barrier_causes", {"pool_idx"}, "pools");
      each("references",
           "SELECT count(*) || ' rows of barrier_causes of graph ' || t.graph_id || ' have a "
           "barrier that barriers lacks' FROM barrier_causes t WHERE NOT EXISTS(SELECT 1 FROM "
           "barriers x WHERE x.graph_id=t.graph_id AND x.ordinal=t.barrier) GROUP BY t.graph_id");
    }
    // What no foreign key of the schema covers.
    by_id({"tensors", "node_tensors", "edges", "barriers", "pools", "state_fields",
           "pass_decisions", "node_stats"},
          "graph_id", "graphs");
    by_id({"node_stats", "scopes"}, "run_id", "runs");
    by_id({"scopes"}, "parent_id", "scopes");
    by_id({"cache_counters", "events", "drops", "writer_health", "benchmarks", "memory_samples",
           "counter_values", "comparisons"},
          "run_id", "runs");
    by_id({"comparisons"}, "recording_id", "recordings");
    by_id({"tensor_stats", "snapshots"}, "replay_id", "replays");
  }

  void places_and_timings() {
    each("places",
         "SELECT count(*) || ' tensors of graph ' || t.graph_id || ' end behind their pool' FROM "
         "tensors t JOIN pools p ON p.graph_id=t.graph_id AND p.idx=t.pool_idx WHERE "
         "t.offset_bytes<0 OR t.nbytes<0 OR t.offset_bytes+t.nbytes>p.size_bytes GROUP BY "
         "t.graph_id");
    each("places",
         "SELECT count(*) || ' tensors of graph ' || graph_id || ' are used last before they are "
         "used first' FROM tensors WHERE last_use<first_use GROUP BY graph_id");
    each("timings",
         "SELECT count(*) || ' replays of graph ' || g.id || ' have times that are not of its ' || "
         "g.step_count || ' steps' FROM step_timings t JOIN replays r ON r.id=t.replay_id JOIN "
         "recordings c ON c.id=r.recording_id JOIN graphs g ON g.id=c.graph_id WHERE t.codec<>1 OR "
         "t.unit_ns<1 OR length(t.data)<>8*g.step_count GROUP BY g.id");
  }

  void what_is_missing() {
    each("drops",
         "SELECT 'run ' || run_id || ' lacks ' || sum(count) || ' ' || what || ': ' || reason FROM "
         "drops GROUP BY run_id, what, reason");
    Statement runs(database_,
                   "SELECT r.id, r.exit_state, r.heartbeat_ns, h.machine_id_hash FROM runs r LEFT "
                   "JOIN hosts h ON h.id=r.host_id ORDER BY r.id");
    while (runs.step()) {
      const std::string state = exit_state(runs, 1, 2, 3);
      if (state != "done" && state != "running") {
        findings_.push_back({"runs", "run " + runs.text(0) + " did not end well: " + state});
      }
    }
  }

 private:
  /// The columns hold the idx of a row of `target` in the same graph.
  void in_graph(const char* table, Names columns, const std::string& target) {
    for (const char* column : columns) {
      dangling(table, column, target, " of graph ' || t.graph_id || '",
               "x.graph_id=t.graph_id AND x.idx", " GROUP BY t.graph_id");
    }
  }
  /// The column holds the id of a row of `target`.
  void by_id(Names tables, const std::string& column, const std::string& target) {
    for (const char* table : tables) {
      dangling(table, column, target, "", "x.id", " HAVING count(*)>0");
    }
  }
  void dangling(const std::string& table, const std::string& column, const std::string& target,
                const std::string& of, const std::string& key, const std::string& group) {
    each("references", "SELECT count(*) || ' rows of " + table + of + " have a " + column +
                           " that " + target + " lacks' FROM " + table + " t WHERE t." + column +
                           " IS NOT NULL AND NOT EXISTS(SELECT 1 FROM " + target + " x WHERE " +
                           key + "=t." + column + ")" + group);
  }

  Database& database_;
  std::vector<ProfileFinding>& findings_;
};

}  // namespace
}  // namespace profile

std::vector<ProfileFinding> check_profile(const std::filesystem::path& path,
                                          const std::stop_token& stop) {
  std::vector<ProfileFinding> findings;
  profile::read_snapshot(
      path, profile::kAllTables,
      [&](profile::Database& database) {
        if (database.integer("PRAGMA user_version") >= profile::kCausesSince) {
          profile::require_tables(database, profile::kCauseTables);
        }
        findings.clear();
        profile::Checker checker(database, findings);
        checker.integrity();
        checker.counts();
        checker.references();
        checker.places_and_timings();
        checker.what_is_missing();
      },
      stop);
  return findings;
}

}  // namespace reprise
