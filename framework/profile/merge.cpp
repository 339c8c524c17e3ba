// Rows of one file into another: what is the same in both is found by what it says, and rows of
// runs get the ids that follow those there are.
#include "framework/profile/merge.h"

#include <array>
#include <map>

#include "framework/profile/migrations.h"
#include "framework/profile/new_database.h"
#include "framework/profile/schema.h"
#include "framework/profile/tensor_folder.h"
#include "reprise/sql_query.h"

namespace reprise {
namespace profile {
namespace {

/// A table whose rows several runs share, and by what they are the same.
struct SharedTable {
  const char *name, *same;
};
constexpr std::array kShared{
    SharedTable{"hosts", "d.machine_id_hash=t.machine_id_hash"},
    SharedTable{"builds",
                "d.version=t.version AND d.git_commit=t.git_commit AND d.git_dirty=t.git_dirty AND "
                "d.compiler=t.compiler AND d.build_type=t.build_type AND d.flags=t.flags"},
    SharedTable{"devices",
                "d.backend=t.backend AND d.name=t.name AND d.device_uuid=t.device_uuid AND "
                "d.driver_uuid=t.driver_uuid AND d.driver_version=t.driver_version AND "
                "d.driver_info=t.driver_info"},
    SharedTable{"graphs", "d.content_hash=t.content_hash"},
    SharedTable{"kernels",
                "d.name=t.name AND d.spirv_hash=t.spirv_hash AND d.entry=t.entry AND "
                "d.spec_json=t.spec_json AND "
                "d.device_id=(SELECT new FROM temp.new_devices WHERE old=t.device_id)"},
    SharedTable{"counters", "d.name=t.name AND d.unit=t.unit"}};

/// Rows that belong to a graph are taken with it, all others with their run.
enum class Of : std::uint8_t { graph, run, recording, replay };
struct RowTable {
  const char* name;
  Of of;
  /// Of rows that belong to no run: those that an earlier file does not have already.
  const char* unowned = nullptr;
};
std::string which(Of of) {
  const std::string recordings =
      "(SELECT id FROM src.recordings WHERE run_id IN (SELECT old FROM temp.new_runs))";
  switch (of) {
    case Of::graph:
      return "t.graph_id IN (SELECT old FROM temp.new_graphs WHERE new NOT IN (SELECT id FROM "
             "temp.known_graphs))";
    case Of::run:
      return "t.run_id IN (SELECT old FROM temp.new_runs)";
    case Of::recording:
      return "t.recording_id IN " + recordings;
    case Of::replay:
      break;
  }
  return "t.replay_id IN (SELECT id FROM src.replays WHERE recording_id IN " + recordings + ")";
}
constexpr std::array kRows{
    RowTable{"nodes", Of::graph},
    RowTable{"steps", Of::graph},
    RowTable{"tensors", Of::graph},
    RowTable{"node_tensors", Of::graph},
    RowTable{"edges", Of::graph},
    RowTable{"barriers", Of::graph},
    RowTable{"barrier_causes", Of::graph},
    RowTable{"pools", Of::graph},
    RowTable{"state_fields", Of::graph},
    RowTable{"pass_decisions", Of::graph},
    RowTable{"clock_sync", Of::run},
    RowTable{"sessions", Of::run},
    RowTable{"recordings", Of::run},
    RowTable{"buffers", Of::run},
    RowTable{"recording_pools", Of::recording},
    RowTable{"memory_samples", Of::run},
    RowTable{"cache_counters", Of::run},
    RowTable{"replays", Of::recording},
    RowTable{"step_timings", Of::replay},
    RowTable{"node_stats", Of::run},
    RowTable{"scopes", Of::run},
    RowTable{"counter_values", Of::run},
    RowTable{"expert_residency", Of::recording},
    RowTable{"tensor_stats", Of::replay},
    RowTable{"snapshots", Of::replay},
    RowTable{"comparisons", Of::run},
    RowTable{"events", Of::run},
    RowTable{"drops", Of::run},
    RowTable{"writer_health", Of::run},
    RowTable{"benchmarks", Of::run,
             "t.run_id IS NULL AND NOT EXISTS (SELECT 1 FROM "
             "main.benchmarks d WHERE d.run_id IS NULL AND d.test=t.test AND "
             "d.peer IS t.peer AND d.backend IS t.backend AND d.model_type IS "
             "t.model_type AND d.test_time IS t.test_time AND "
             "d.samples_ns_json IS t.samples_ns_json)"}};

class Merger {
 public:
  explicit Merger(Database& database) : database_(database) {}

  /// A file that nobody else has open.
  void add(const std::filesystem::path& path, MergeResult& result) {
    Statement(database_, "ATTACH ? AS src").run(std::string_view(path.string()));
    {
      Transaction transaction(database_);
      find_offsets();
      add_runs(result);
      for (const RowTable& table : kRows) {
        copy(table.name, "",
             which(table.of) +
                 (table.unowned == nullptr ? "" : " OR (" + std::string(table.unowned) + ")"));
      }
      database_.execute("INSERT OR IGNORE INTO main.meta SELECT key, value FROM src.meta");
      transaction.commit();
    }
    database_.execute("DETACH src");
  }

 private:
  void find_offsets() {
    offsets_.clear();
    for (const char* table :
         {"hosts",          "builds",         "devices",        "graphs",
          "kernels",        "counters",       "runs",           "sessions",
          "recordings",     "buffers",        "replays",        "scopes",
          "memory_samples", "cache_counters", "counter_values", "expert_residency",
          "snapshots",      "comparisons",    "events",         "drops",
          "writer_health",  "benchmarks"}) {
      offsets_[table] =
          database_.integer("SELECT coalesce(max(id), 0) FROM main." + std::string(table));
    }
  }

  void add_runs(MergeResult& result) {
    database_.execute(
        "DROP TABLE IF EXISTS temp.known_graphs; "
        "CREATE TEMP TABLE known_graphs AS SELECT id FROM main.graphs");
    for (const auto& [name, same] : kShared) {
      const std::string table = name;
      copy(table, "OR IGNORE ", "1");
      map(table, "SELECT t.id, d.id FROM src." + table + " t JOIN main." + table + " d ON " + same);
    }
    result.shared_graphs += static_cast<std::uint64_t>(
        database_.integer("SELECT count(*) FROM temp.new_graphs WHERE new IN (SELECT id FROM "
                          "temp.known_graphs)"));
    const std::string known = "t.run_uuid IN (SELECT run_uuid FROM main.runs)";
    result.known_runs += static_cast<std::uint64_t>(
        database_.integer("SELECT count(*) FROM src.runs t WHERE " + known));
    map("runs", "SELECT t.id, t.id+" + std::to_string(offsets_["runs"]) +
                    " FROM src.runs t WHERE NOT " + known);
    copy("runs", "", "t.id IN (SELECT old FROM temp.new_runs)");
  }

  /// temp.new_<table>: which id a row of the file has now.
  void map(const std::string& table, const std::string& pairs) {
    const std::string name = "temp.new_" + table;
    database_.execute("DROP TABLE IF EXISTS " + name + "; CREATE TEMP TABLE new_" + table +
                      "(old INTEGER PRIMARY KEY, new INT); INSERT INTO " + name + " " + pairs);
  }

  /// What a column holds in the file that is made.
  std::string value_of(const std::string& table, const std::string& column) {
    static const std::map<std::string, std::string> kMapped{
        {"run_id", "runs"},        {"graph_id", "graphs"},   {"host_id", "hosts"},
        {"build_id", "builds"},    {"device_id", "devices"}, {"kernel_id", "kernels"},
        {"counter_id", "counters"}};
    static const std::map<std::string, std::string> kShifted{{"session_id", "sessions"},
                                                             {"recording_id", "recordings"},
                                                             {"replay_id", "replays"},
                                                             {"parent_id", "scopes"},
                                                             {"buffer_id", "buffers"}};
    const auto shifted = [&](const std::string& of) {
      return "t." + column + "+" + std::to_string(offsets_[of]);
    };
    if (column == "id") {
      return shifted(table);
    }
    if (const auto found = kShifted.find(column); found != kShifted.end()) {
      return shifted(found->second);
    }
    const auto found = kMapped.find(column);
    if (found == kMapped.end() || table == "devices") {  // devices.device_id is the vendor's
      return "t." + column;
    }
    return "(SELECT new FROM temp.new_" + found->second + " WHERE old=t." + column + ")";
  }

  void copy(const std::string& table, const std::string& conflict, const std::string& where) {
    std::string columns;
    std::string values;
    Statement rows(database_, "SELECT name FROM pragma_table_info(?, 'main')");
    rows.bind_all(std::string_view(table));
    while (rows.step()) {
      const std::string column = rows.text(0);
      columns += (columns.empty() ? "" : ",") + column;
      values += (values.empty() ? "" : ",") + value_of(table, column);
    }
    database_.execute("INSERT " + conflict + "INTO main." + table + "(" + columns + ") SELECT " +
                      values + " FROM src." + table + " t WHERE " + where);
  }

  Database& database_;
  std::map<std::string, std::int64_t> offsets_;  // what is added to ids of the file, by table
};

void bring_to_this_version(const std::filesystem::path& copy) {
  Database database(copy, Database::Mode::write);
  Transaction transaction(database);
  migrate(database);
  transaction.commit();
}

}  // namespace

MergeResult merge_into(Database& database, std::span<const std::filesystem::path> paths,
                       const std::filesystem::path& out, const std::stop_token& stop) {
  MergeResult result;
  Merger merger(database);
  for (const std::filesystem::path& path : paths) {
    const NewDatabase copy(out.string() + ".source");
    copy_profile(path, copy.path(), stop);
    try {
      bring_to_this_version(copy.path());
      merger.add(copy.path(), result);
    } catch (const SqliteError& error) {
      if (error.interrupted()) {
        throw Cancelled();
      }
      throw Error(ErrorCode::io, "The profiling database (" + path.string() +
                                     ") cannot be taken over (" + error.reason() +
                                     "); `reprise db check` says what is wrong with it.");
    }
  }
  const auto rows = [&](const char* sql) {
    return static_cast<std::uint64_t>(database.integer(sql));
  };
  result.runs = rows("SELECT count(*) FROM runs");
  result.graphs = rows("SELECT count(*) FROM graphs");
  result.replays = rows("SELECT count(*) FROM replays");
  return result;
}

}  // namespace profile

MergeResult merge_profiles(std::span<const std::filesystem::path> paths,
                           const std::filesystem::path& out, const std::stop_token& stop) {
  profile::NewDatabase file(out);
  MergeResult result;
  {
    profile::Database database(file.path(), profile::Database::Mode::write);
    database.execute(profile::kSchemaSql);
    database.stop_when([&stop] { return stop.stop_requested(); });
    result = profile::merge_into(database, paths, file.path(), stop);
    result.missing_tensors = profile::copy_tensors(database, paths, out, stop);
  }
  if (stop.stop_requested()) {
    throw Cancelled();
  }
  file.publish();
  return result;
}

}  // namespace reprise
