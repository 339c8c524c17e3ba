#include <array>

#include "framework/profile/new_database.h"
#include "framework/profile/profile_file.h"
#include "framework/profile/profile_rewrite.h"
#include "framework/profile/profile_snapshot.h"
#include "framework/profile/table_names.h"
#include "framework/profile/tensor_folder.h"
#include "reprise/sql_query.h"

namespace reprise {
namespace profile {
namespace {

constexpr std::string_view kGoneRecordings =
    "(SELECT id FROM recordings WHERE run_id IN (SELECT id FROM temp.gone_runs))";
constexpr std::array kOfReplays{"step_timings", "tensor_stats", "snapshots"};
constexpr std::array kOfRecordings{"recording_pools", "expert_residency"};
constexpr std::array kOfRuns{"clock_sync",     "node_stats",     "scopes",      "events",
                             "drops",          "writer_health",  "benchmarks",  "memory_samples",
                             "cache_counters", "counter_values", "comparisons", "recordings",
                             "sessions",       "buffers"};
constexpr std::array kOfGraphs{"nodes",        "steps",          "tensors",        "node_tensors",
                               "edges",        "barriers",       "barrier_causes", "pools",
                               "state_fields", "pass_decisions", "node_stats"};

class Pruner {
 public:
  explicit Pruner(Database& database) : database_(database) {}

  PruneResult prune(const PruneOptions& options) {
    Transaction transaction(database_);
    PruneResult before = counts();
    database_.execute(
        "CREATE TEMP TABLE gone_runs(id INTEGER PRIMARY KEY); "
        "CREATE TEMP TABLE gone_replays(id INTEGER PRIMARY KEY)");
    if (options.keep_runs) {
      Statement(database_,
                "INSERT INTO temp.gone_runs SELECT id FROM runs ORDER BY id DESC LIMIT -1 OFFSET ?")
          .run(*options.keep_runs);
    }
    database_.execute(
        "INSERT INTO temp.gone_replays SELECT id FROM replays WHERE recording_id IN " +
        std::string(kGoneRecordings));
    if (options.keep_replays) {
      Statement(database_,
                "INSERT OR IGNORE INTO temp.gone_replays SELECT id FROM (SELECT r.id, row_number() "
                "OVER (PARTITION BY c.run_id, c.graph_id ORDER BY r.id DESC) AS n FROM replays r "
                "JOIN recordings c ON c.id=r.recording_id) WHERE n>?")
          .run(*options.keep_replays);
    }
    remove();
    const PruneResult after = counts();
    transaction.commit();
    before.runs -= after.runs;
    before.graphs -= after.graphs;
    before.replays -= after.replays;
    return before;
  }

 private:
  PruneResult counts() {
    const auto rows = [&](const std::string& table) {
      return static_cast<std::uint64_t>(database_.integer("SELECT count(*) FROM " + table));
    };
    return {rows("runs"), rows("graphs"), rows("replays")};
  }

  void remove_from(const std::string& table, const std::string& where) {
    database_.execute("DELETE FROM main." + table + " WHERE " + where);
  }

  /// What refers to a row goes before it.
  void remove() {
    const std::string replays = " IN (SELECT id FROM temp.gone_replays)";
    for (const char* table : kOfReplays) {
      remove_from(table, "replay_id" + replays);
    }
    remove_from("replays", "id" + replays);
    for (const char* table : kOfRecordings) {
      remove_from(table, "recording_id IN " + std::string(kGoneRecordings));
    }
    for (const char* table : kOfRuns) {
      remove_from(table, "run_id IN (SELECT id FROM temp.gone_runs)");
    }
    remove_from("runs", "id IN (SELECT id FROM temp.gone_runs)");
    if (database_.integer("SELECT count(*) FROM temp.gone_runs") > 0) {
      remove_what_nobody_needs();
    }
  }

  void remove_what_nobody_needs() {
    const std::string kept =
        " NOT IN (SELECT graph_id FROM recordings UNION SELECT graph_id FROM sessions WHERE "
        "graph_id IS NOT NULL)";
    for (const char* table : kOfGraphs) {
      remove_from(table, "graph_id" + kept);
    }
    for (const char* table : {"snapshots", "comparisons"}) {
      remove_from(table, "graph_id" + kept);
    }
    remove_from("graphs", "id" + kept);
    remove_from("kernels", "id NOT IN (SELECT kernel_id FROM steps WHERE kernel_id IS NOT NULL)");
    remove_from("hosts", "id NOT IN (SELECT host_id FROM runs)");
    remove_from("builds", "id NOT IN (SELECT build_id FROM runs)");
    std::string used;
    for (const char* table :
         {"sessions", "recordings", "kernels", "clock_sync", "buffers", "benchmarks"}) {
      used += std::string(used.empty() ? "" : " UNION ") + "SELECT device_id FROM " + table +
              " WHERE device_id IS NOT NULL";
    }
    remove_from("devices", "id NOT IN (" + used + ")");
  }

  Database& database_;
};

std::uint64_t bytes_of(const std::filesystem::path& path) {
  std::uint64_t bytes = 0;
  for (const char* suffix : {"", "-wal"}) {
    std::error_code absent;
    const std::uintmax_t size = std::filesystem::file_size(path.string() + suffix, absent);
    bytes += absent ? 0 : size;
  }
  return bytes;
}

}  // namespace
}  // namespace profile

PruneResult prune_profile(const std::filesystem::path& path, const PruneOptions& options,
                          const std::stop_token& stop) {
  profile::require_not_written(path);
  profile::read_snapshot(
      path, profile::kAllTables, [](profile::Database&) {}, stop);
  const std::uint64_t before = profile::bytes_of(path);
  PruneResult result;
  try {
    profile::ProfileFile file(path);
    file.database().stop_when([&stop] { return stop.stop_requested(); });
    const profile::NamedTensors tensors(file.database(), path);
    result = profile::Pruner(file.database()).prune(options);
    tensors.remove_unneeded(file.database());
    if (options.vacuum) {
      file.database().execute("VACUUM");
    }
    file.database().stop_when({});
  } catch (const profile::SqliteError& error) {
    if (error.interrupted()) {
      throw Cancelled();
    }
    throw;
  }
  result.bytes_before = before;
  result.bytes_after = profile::bytes_of(path);
  return result;
}

}  // namespace reprise
