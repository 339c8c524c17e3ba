#include "framework/profile/profile_check.h"

#include <algorithm>
#include <array>

#include "framework/profile/exit_state.h"
#include "framework/profile/profile_snapshot.h"
#include "framework/profile/table_names.h"

namespace reprise {
namespace profile {
namespace {

constexpr std::int64_t kMaxFindings = 100;  // of one query

/// Rows of a graph whose number it says itself.
struct Counted {
  const char *table, *column;
};
constexpr std::array kCounted{Counted{"nodes", "node_count"}, Counted{"steps", "step_count"},
                              Counted{"edges", "edge_count"}, Counted{"barriers", "barrier_count"}};
constexpr std::array kNumbered{"nodes", "steps", "tensors", "pools", "state_fields"};

/// A column with the idx of a row of `target` in the same graph.
struct Reference {
  const char *table, *column, *target;
};
constexpr std::array kInGraph{Reference{"steps", "node_idx", "nodes"},
                              Reference{"node_tensors", "node_idx", "nodes"},
                              Reference{"node_tensors", "tensor_idx", "tensors"},
                              Reference{"edges", "src", "nodes"},
                              Reference{"edges", "dst", "nodes"},
                              Reference{"edges", "tensor_idx", "tensors"},
                              Reference{"barriers", "before_step", "steps"},
                              Reference{"barriers", "cause_src", "steps"},
                              Reference{"barriers", "cause_dst", "steps"},
                              Reference{"barriers", "pool_idx", "pools"},
                              Reference{"tensors", "pool_idx", "pools"},
                              Reference{"tensors", "alias_of", "tensors"},
                              Reference{"tensors", "first_use", "steps"},
                              Reference{"tensors", "last_use", "steps"},
                              Reference{"node_stats", "idx", "nodes"}};
constexpr std::array kOfTensors{Reference{"tensor_stats", "tensor_idx", "tensors"},
                                Reference{"tensor_stats", "node_idx", "nodes"},
                                Reference{"snapshots", "tensor_idx", "tensors"},
                                Reference{"snapshots", "node_idx", "nodes"},
                                Reference{"comparisons", "tensor_idx", "tensors"},
                                Reference{"comparisons", "node_idx", "nodes"}};
constexpr std::int64_t kTensorsSince = 2;  // version of the schema
constexpr std::array kOfCauses{Reference{"barrier_causes", "src_step", "steps"},
                               Reference{"barrier_causes", "pool_idx", "pools"}};
constexpr std::int64_t kCausesSince = 3;
/// A column with the id of a row of `target` that no foreign key of the schema covers.
constexpr std::array kById{Reference{"tensors", "graph_id", "graphs"},
                           Reference{"node_tensors", "graph_id", "graphs"},
                           Reference{"edges", "graph_id", "graphs"},
                           Reference{"barriers", "graph_id", "graphs"},
                           Reference{"pools", "graph_id", "graphs"},
                           Reference{"state_fields", "graph_id", "graphs"},
                           Reference{"pass_decisions", "graph_id", "graphs"},
                           Reference{"node_stats", "graph_id", "graphs"},
                           Reference{"node_stats", "run_id", "runs"},
                           Reference{"scopes", "run_id", "runs"},
                           Reference{"scopes", "parent_id", "scopes"},
                           Reference{"cache_counters", "run_id", "runs"},
                           Reference{"events", "run_id", "runs"},
                           Reference{"drops", "run_id", "runs"},
                           Reference{"writer_health", "run_id", "runs"},
                           Reference{"benchmarks", "run_id", "runs"},
                           Reference{"memory_samples", "run_id", "runs"},
                           Reference{"counter_values", "run_id", "runs"},
                           Reference{"comparisons", "run_id", "runs"},
                           Reference{"comparisons", "recording_id", "recordings"},
                           Reference{"tensor_stats", "replay_id", "replays"},
                           Reference{"snapshots", "replay_id", "replays"}};

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
      if (error.interrupted()) {
        throw;
      }
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
    for (const auto& [table, column] : kCounted) {
      const std::string rows =
          "(SELECT count(*) FROM " + std::string(table) + " WHERE graph_id=g.id)";
      each("counts", "SELECT 'graph ' || g.id || ' has ' || " + rows + " || ' " + table +
                         ", but says ' || coalesce(g." + column +
                         ", 'nothing') FROM graphs g WHERE g." + column + " IS NOT " + rows);
    }
    for (const std::string table : kNumbered) {
      each("counts", "SELECT 'the ' || count(*) || ' " + table +
                         " of graph ' || graph_id || ' are numbered ' || min(idx) || ' to ' || "
                         "max(idx) FROM " +
                         table +
                         " GROUP BY graph_id HAVING min(idx)<>0 OR "
                         "max(idx)<>count(*)-1");
    }
  }

  void references() {
    const auto in_graph = [&](const Reference& r) {
      dangling(r, " of graph ' || t.graph_id || '", "x.graph_id=t.graph_id AND x.idx",
               " GROUP BY t.graph_id");
    };
    std::ranges::for_each(kInGraph, in_graph);
    const std::int64_t version = database_.integer("PRAGMA user_version");
    if (version >= kTensorsSince) {
      std::ranges::for_each(kOfTensors, in_graph);
    }
    if (version >= kCausesSince) {
      std::ranges::for_each(kOfCauses, in_graph);
      each("references",
           "SELECT count(*) || ' rows of barrier_causes of graph ' || t.graph_id || ' have a "
           "barrier that barriers lacks' FROM barrier_causes t WHERE NOT EXISTS(SELECT 1 FROM "
           "barriers x WHERE x.graph_id=t.graph_id AND x.ordinal=t.barrier) GROUP BY t.graph_id");
    }
    for (const Reference& r : kById) {
      dangling(r, "", "x.id", " HAVING count(*)>0");
    }
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
  void dangling(const Reference& r, const std::string& of, const std::string& key,
                const std::string& group) {
    each("references", "SELECT count(*) || ' rows of " + std::string(r.table) + of + " have a " +
                           r.column + " that " + r.target + " lacks' FROM " + r.table +
                           " t WHERE t." + r.column + " IS NOT NULL AND NOT EXISTS(SELECT 1 FROM " +
                           r.target + " x WHERE " + key + "=t." + r.column + ")" + group);
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
