#include <algorithm>
#include <array>

#include "framework/profile/merge.h"
#include "framework/profile/new_database.h"
#include "framework/profile/table_list.h"

namespace reprise {
namespace profile {
namespace {

/// Texts and blobs that a scrubbed file keeps as they are. Everything else that is text or a blob
/// goes: a new column is private until somebody adds it here. Of meta see scrub().
struct Kept {
  std::string_view table, columns;
};
constexpr std::array kKept{
    Kept{"meta", "value"},
    Kept{"hosts", "os cpu_model"},
    Kept{"builds", "version git_commit compiler build_type"},
    Kept{"devices",
         "backend name driver_name driver_info api_version type limits_json features_json"},
    Kept{"runs", "run_uuid quant label start_utc exit_state"},
    Kept{"graphs", "content_hash structure_hash name"},
    Kept{"kernels", "name spirv_hash entry spec_json"},
    Kept{"nodes", "op family label scope src_func"},
    Kept{"steps", "kind push"},
    Kept{"tensors", "name dtype shape_json strides_json role"},
    Kept{"node_tensors", "operand access"},
    Kept{"edges", "kind"},
    Kept{"barriers", "kind reason"},
    Kept{"barrier_causes", "kind"},
    Kept{"pools", "kind"},
    Kept{"state_fields", "name type owner expression"},
    Kept{"pass_decisions", "pass kind reason"},
    Kept{"sessions", "mode name thread precision"},
    Kept{"recordings", "evicted_reason"},
    Kept{"buffers", "name kind"},
    Kept{"memory_samples", "purpose"},
    Kept{"cache_counters", "counter reason"},
    Kept{"replays", "phase"},
    Kept{"step_timings", "data"},
    Kept{"node_stats", "phase hist"},
    Kept{"scopes", "thread name category"},
    Kept{"counters", "name unit"},
    Kept{"expert_residency", "layer"},
    Kept{"tensor_stats", "hist"},
    Kept{"comparisons", "name"},
    Kept{"events", "source code"},
    Kept{"drops", "what reason"},
    Kept{"benchmarks", "test backend precision model_type samples_ns_json peer test_time"}};

/// What is put in the place of a text that must stay different, or says something in part.
struct Replaced {
  std::string_view column, value;
};
constexpr std::string_view kFileName = "file name";  // the last part of a path
constexpr std::array kReplaced{
    Replaced{"meta.key", "key"},
    Replaced{"hosts.hostname", "'scrubbed'"},
    Replaced{"hosts.machine_id_hash", "'host ' || id"},
    Replaced{"builds.flags", "'scrubbed ' || id"},
    Replaced{"devices.device_uuid", "'device ' || id"},
    Replaced{"runs.app", kFileName},
    Replaced{"runs.model_path", kFileName},
    Replaced{"nodes.src_file", kFileName},
    Replaced{"sessions.outcome",
             "CASE WHEN outcome IN ('finished', 'discarded', 'loaded') THEN outcome ELSE 'error' "
             "END"},
    Replaced{"recordings.stale_reason", "'scrubbed'"},
    Replaced{"comparisons.reference", kFileName},
    Replaced{"events.message", "'scrubbed'"}};

/// What a text or blob in that column becomes; empty: it stays.
std::string scrubbed(const std::string& table, const std::string& column, bool may_be_null) {
  const std::string name = table + "." + column;
  const auto kept = std::ranges::find(kKept, table, &Kept::table);
  if (kept != kKept.end() &&
      (" " + std::string(kept->columns) + " ").find(" " + column + " ") != std::string::npos) {
    return "";
  }
  const auto replaced = std::ranges::find(kReplaced, name, &Replaced::column);
  if (replaced == kReplaced.end()) {
    return may_be_null ? "NULL" : "''";
  }
  return replaced->value != kFileName ? std::string(replaced->value)
                                      : "substr(" + column + ", length(rtrim(" + column +
                                            ", replace(" + column + ", '/', '')))+1)";
}

/// One pass over the table; columns of numbers too, as any column can hold a text.
void scrub_table(Database& database, const std::string& table) {
  std::string values;
  std::string where;
  Statement columns(database, "SELECT name, \"notnull\"=0 AND pk=0 FROM pragma_table_info(?)");
  columns.bind_all(std::string_view(table));
  while (columns.step()) {
    const std::string column = columns.text(0);
    const std::string value = scrubbed(table, column, columns.integer(1) != 0);
    if (!value.empty()) {
      const std::string is_text = "typeof(" + column + ") IN ('text','blob')";
      values += (values.empty() ? "" : ", ") + column + "=CASE WHEN " + is_text + " THEN " + value +
                " ELSE " + column + " END";
      where += (where.empty() ? "" : " OR ") + is_text;
    }
  }
  if (!values.empty()) {
    database.execute("UPDATE " + table + " SET " + values + " WHERE " + where);
  }
}

/// Only what the schema knows was copied.
void scrub(Database& database) {
  Transaction transaction(database);
  database.execute("DELETE FROM meta WHERE key NOT IN ('created_utc', 'created_by')");
  database.execute("DELETE FROM snapshots");
  database.execute("UPDATE runs SET pid=NULL");
  for (const TableOfSchema& table : tables_of(database)) {
    scrub_table(database, table.name);
  }
  transaction.commit();
}

}  // namespace
}  // namespace profile

void scrub_profile(const std::filesystem::path& path, const std::filesystem::path& out,
                   const std::stop_token& stop) {
  profile::make_database(out, stop, [&](profile::Database& database) {
    profile::merge_into(database, std::span(&path, 1), out, stop);
    profile::scrub(database);
    database.execute("VACUUM");  // free pages and ends of pages still hold what was there
  });
}

}  // namespace reprise
