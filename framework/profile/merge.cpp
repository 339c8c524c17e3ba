// Rows of one file into another: what is the same in both is found by what it says, and rows of
// runs get the ids that follow those there are.
#include "framework/profile/merge.h"

#include <map>
#include <set>

#include "framework/core/new_file.h"
#include "framework/profile/migrations.h"
#include "framework/profile/new_database.h"
#include "framework/profile/profile_snapshot.h"
#include "framework/profile/table_list.h"
#include "framework/profile/tensor_folder.h"

namespace reprise {
namespace profile {
namespace {

/// Returns the condition for rows t of a table to be taken over, by the owner of its rows.
std::string which(const std::string& owner) {
  const std::string recordings =
      "(SELECT id FROM src.recordings WHERE run_id IN (SELECT old FROM temp.new_runs))";
  return "t." + owner + " IN " +
         (owner == "run_id"         ? "(SELECT old FROM temp.new_runs)"
          : owner == "recording_id" ? recordings
          : owner == "replay_id"
              ? "(SELECT id FROM src.replays WHERE recording_id IN " + recordings + ")"
              : "(SELECT old FROM temp.new_graphs WHERE new NOT IN (SELECT id FROM "
                "temp.known_graphs))");
}

/// Benchmarks without a run: those that an earlier file does not have already.
constexpr std::string_view kUnownedBenchmarks =
    " OR (t.run_id IS NULL AND NOT EXISTS (SELECT 1 FROM main.benchmarks d WHERE d.run_id IS NULL "
    "AND d.test=t.test AND d.peer IS t.peer AND d.backend IS t.backend AND d.model_type IS "
    "t.model_type AND d.test_time IS t.test_time AND d.samples_ns_json IS t.samples_ns_json))";

class Merger {
 public:
  explicit Merger(Database& database) : database_(database), tables_(tables_of(database)) {}

  /// A file that nobody else has open.
  void add(const std::filesystem::path& path, MergeResult& result) {
    Statement(database_, "ATTACH ? AS src").run(std::string_view(path.string()));
    {
      Transaction transaction(database_);
      find_offsets();
      add_runs(result);
      for (const auto& [table, owner, has_ids] : tables_) {
        if (!owner.empty()) {
          copy(table, "",
               which(owner) + std::string(table == "benchmarks" ? kUnownedBenchmarks : ""));
        }
      }
      database_.execute("INSERT OR IGNORE INTO main.meta SELECT key, value FROM src.meta");
      transaction.commit();
    }
    database_.execute("DETACH src");
  }

 private:
  void find_offsets() {
    for (const auto& [table, owner, has_ids] : tables_) {
      if (has_ids) {
        offsets_[table] = database_.integer("SELECT coalesce(max(id), 0) FROM main." + table);
      }
    }
  }

  void add_runs(MergeResult& result) {
    database_.execute(
        "DROP TABLE IF EXISTS temp.known_graphs; "
        "CREATE TEMP TABLE known_graphs AS SELECT id FROM main.graphs");
    for (const auto& [table, owner, has_ids] : tables_) {
      if (owner.empty() && has_ids && table != "runs") {
        copy(table, "OR IGNORE ", "1");
        map(table, "SELECT t.id, d.id FROM src." + table + " t JOIN main." + table + " d ON " +
                       same_key(table));
      }
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
    mapped_.insert(table);
    database_.execute("DROP TABLE IF EXISTS " + name + "; CREATE TEMP TABLE new_" + table +
                      "(old INTEGER PRIMARY KEY, new INT); INSERT INTO " + name + " " + pairs);
  }

  /// Returns the condition for rows t and d of a shared table to be the same.
  std::string same_key(const std::string& table) {
    std::string same;
    Statement columns(database_,
                      "SELECT c.name FROM pragma_index_list(?, 'main') i, "
                      "pragma_index_info(i.name, 'main') c WHERE i.origin='u'");
    columns.bind_all(table);
    while (columns.step()) {
      same += (same.empty() ? "d." : " AND d.") + columns.text(0) + "=" +
              value_of(table, columns.text(0));
    }
    return same;
  }

  /// Returns the new value of a column of t. Columns that end in _id are named after the table they
  /// refer to.
  std::string value_of(const std::string& table, const std::string& column) {
    const std::string of = column == "id"          ? table
                           : column == "parent_id" ? "scopes"
                                                   : column.substr(0, column.rfind("_id")) + "s";
    const bool refers = column == "id" || column.ends_with("_id");
    // The device_id of devices is the vendor's.
    if (!refers || !offsets_.contains(of) || (table == "devices" && column != "id")) {
      return "t." + column;
    }
    return column == "id" || !mapped_.contains(of)
               ? "t." + column + "+" + std::to_string(offsets_.at(of))
               : "(SELECT new FROM temp.new_" + of + " WHERE old=t." + column + ")";
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
  const std::vector<TableOfSchema> tables_;
  std::set<std::string> mapped_;                 // tables whose rows are found in temp.new_<table>
  std::map<std::string, std::int64_t> offsets_;  // what is added to ids of the file, by table
};

void bring_to_this_version(const std::filesystem::path& copy, const std::filesystem::path& of) {
  Database database(copy, Database::Mode::write);
  Transaction transaction(database);
  migrate(database);
  require_schema(database, of.string());  // tables that a newer version has may be endless views
  transaction.commit();
}

}  // namespace

MergeResult merge_into(Database& database, std::span<const std::filesystem::path> paths,
                       const std::filesystem::path& out, const std::stop_token& stop) {
  MergeResult result;
  Merger merger(database);
  for (const std::filesystem::path& path : paths) {
    const NewFile copy(out, NewFile::Existing::refuse);
    copy_profile(path, copy.path(), stop);
    try {
      bring_to_this_version(copy.path(), path);
      merger.add(copy.path(), result);
    } catch (const SqliteError& error) {
      throw_error(ErrorCode::io, "The profiling database (", path.string(),
                  ") cannot be taken over (", error.reason(),
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
  MergeResult result;
  profile::make_database(out, stop, [&](profile::Database& database) {
    result = profile::merge_into(database, paths, out, stop);
    result.missing_tensors = profile::copy_tensors(database, paths, out, stop);
  });
  return result;
}

}  // namespace reprise
