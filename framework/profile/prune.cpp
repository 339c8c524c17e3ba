#include <algorithm>
#include <map>

#include "framework/profile/new_database.h"
#include "framework/profile/profile_file.h"
#include "framework/profile/profile_rewrite.h"
#include "framework/profile/profile_snapshot.h"
#include "framework/profile/schema.h"
#include "framework/profile/table_list.h"
#include "framework/profile/tensor_folder.h"
#include "reprise/sql_query.h"

namespace reprise {
namespace profile {
namespace {

constexpr std::string_view kGoneRecordings =
    "(SELECT id FROM recordings WHERE run_id IN (SELECT id FROM temp.gone_runs))";
class Pruner {
 public:
  explicit Pruner(Database& database) : database_(database) {
    Database schema(":memory:", Database::Mode::write);  // the file may have tables of its own
    schema.execute(kSchemaSql);
    tables_ = tables_of(schema);
    std::ranges::reverse(tables_);
  }

  PruneResult prune(const PruneOptions& options) {
    // SQLite would look for what refers to each row that goes, in whole tables: few references have
    // an index. remove() goes in the order that references ask for. Of tables that the schema does
    // not know only SQLite knows what is to become of their rows.
    if (!others_refer()) {
      database_.execute("PRAGMA foreign_keys = OFF");
    }
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

  /// Whether the file has tables of its own with foreign keys.
  bool others_refer() {
    Statement tables(database_,
                     "SELECT DISTINCT m.name FROM main.sqlite_schema m, "
                     "pragma_foreign_key_list(m.name, 'main') WHERE m.type='table'");
    bool any = false;
    while (tables.step()) {
      any =
          any || std::ranges::find(tables_, tables.text(0), &TableOfSchema::name) == tables_.end();
    }
    return any;
  }

  void remove_from(const std::string& table, const std::string& where) {
    database_.execute("DELETE FROM main." + table + " WHERE " + where);
  }

  /// What refers to a row goes before it.
  void remove() {
    const std::map<std::string, std::string_view> gone{
        {"run_id", "(SELECT id FROM temp.gone_runs)"},
        {"recording_id", kGoneRecordings},
        {"replay_id", "(SELECT id FROM temp.gone_replays)"}};
    for (const TableOfSchema& table : tables_) {
      const bool replays = table.name == "replays";
      if (const auto of = gone.find(replays ? "replay_id" : table.owner); of != gone.end()) {
        remove_from(table.name, (replays ? "id" : table.owner) + " IN " + std::string(of->second));
      }
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
    for (const TableOfSchema& table : tables_) {
      if (table.owner == "graph_id") {
        remove_from(table.name, "graph_id" + kept);
      }
    }
    for (const char* table : {"node_stats", "snapshots", "comparisons"}) {
      remove_from(table, "graph_id" + kept);
    }
    remove_from("graphs", "id" + kept);
    remove_from("kernels", "id NOT IN (SELECT kernel_id FROM steps WHERE kernel_id IS NOT NULL)");
    remove_from("counters", "id NOT IN (SELECT counter_id FROM counter_values)");
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
  std::vector<TableOfSchema> tables_;  // before those that they refer to
};

/// A file that stays as large as it was is as sound as one that became smaller.
void give_back_space(Database& database) {
  constexpr const char* kRemoved = "The rows are removed; the space could not be given back: ";
  try {
    database.execute("VACUUM");
  } catch (const Error& error) {
    throw_error(error.code(), kRemoved, error.what());
  } catch (const Cancelled&) {
    throw_error(ErrorCode::io, kRemoved, "it was interrupted.");
  }
}

}  // namespace
}  // namespace profile

PruneResult prune_profile(const std::filesystem::path& path, const PruneOptions& options,
                          const std::stop_token& stop) {
  profile::require_not_written(path);
  profile::read_snapshot(
      path, profile::kAllTables, [](profile::Database&) {}, stop);
  const std::uint64_t before = profile::bytes_with_log(path);
  PruneResult result;
  {
    profile::ProfileFile file(path);
    file.database().stop_at(stop);
    const profile::NamedTensors tensors(file.database(), path);
    result = profile::Pruner(file.database()).prune(options);
    tensors.remove_unneeded(file.database());
    if (options.vacuum) {
      profile::give_back_space(file.database());
    }
    file.database().stop_at({});
  }
  result.bytes_before = before;
  result.bytes_after = profile::bytes_with_log(path);
  return result;
}

}  // namespace reprise
