#include <algorithm>
#include <array>

#include "framework/profile/merge.h"
#include "framework/profile/new_database.h"
#include "framework/profile/schema.h"
#include "reprise/sql_query.h"

namespace reprise {
namespace profile {
namespace {

/// Texts and blobs that a scrubbed file keeps as they are. Everything else that is text or a blob
/// goes: a new column is private until somebody adds it here.
constexpr auto kKept = std::to_array<std::string_view>({
    "meta.value",  // of the keys below
    "hosts.os",
    "hosts.cpu_model",
    "builds.version",
    "builds.git_commit",
    "builds.compiler",
    "builds.build_type",
    "devices.backend",
    "devices.name",
    "devices.driver_name",
    "devices.driver_info",
    "devices.api_version",
    "devices.type",
    "devices.limits_json",
    "devices.features_json",
    "runs.run_uuid",
    "runs.quant",
    "runs.label",
    "runs.start_utc",
    "runs.exit_state",
    "graphs.content_hash",
    "graphs.structure_hash",
    "graphs.name",
    "kernels.name",
    "kernels.spirv_hash",
    "kernels.entry",
    "kernels.spec_json",
    "nodes.op",
    "nodes.family",
    "nodes.label",
    "nodes.scope",
    "nodes.src_func",
    "steps.kind",
    "steps.push",
    "tensors.name",
    "tensors.dtype",
    "tensors.shape_json",
    "tensors.strides_json",
    "tensors.role",
    "node_tensors.operand",
    "node_tensors.access",
    "edges.kind",
    "barriers.kind",
    "barriers.reason",
    "barrier_causes.kind",
    "pools.kind",
    "state_fields.name",
    "state_fields.type",
    "state_fields.owner",
    "state_fields.expression",
    "pass_decisions.pass",
    "pass_decisions.kind",
    "pass_decisions.reason",
    "sessions.mode",
    "sessions.name",
    "sessions.thread",
    "sessions.precision",
    "recordings.evicted_reason",
    "buffers.name",
    "buffers.kind",
    "memory_samples.purpose",
    "cache_counters.counter",
    "cache_counters.reason",
    "replays.phase",
    "step_timings.data",
    "node_stats.phase",
    "node_stats.hist",
    "scopes.thread",
    "scopes.name",
    "scopes.category",
    "counters.name",
    "counters.unit",
    "expert_residency.layer",
    "tensor_stats.hist",
    "comparisons.name",
    "events.source",
    "events.code",
    "drops.what",
    "drops.reason",
    "benchmarks.test",
    "benchmarks.backend",
    "benchmarks.precision",
    "benchmarks.model_type",
    "benchmarks.samples_ns_json",
    "benchmarks.peer",
    "benchmarks.test_time",
});

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
  if (std::ranges::count(kKept, name) != 0) {
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

std::vector<std::string> tables_of(Database& database) {
  std::vector<std::string> tables;
  Statement rows(database,
                 "SELECT name FROM sqlite_schema WHERE type='table' AND name NOT LIKE 'sqlite%'");
  while (rows.step()) {
    tables.push_back(rows.text(0));
  }
  return tables;
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
  for (const std::string& table : tables_of(database)) {
    scrub_table(database, table);
  }
  transaction.commit();
}

}  // namespace
}  // namespace profile

void scrub_profile(const std::filesystem::path& path, const std::filesystem::path& out,
                   const std::stop_token& stop) {
  profile::NewDatabase file(out);
  try {
    profile::Database database(file.path(), profile::Database::Mode::write);
    database.execute(profile::kSchemaSql);
    database.stop_when([&stop] { return stop.stop_requested(); });
    profile::merge_into(database, std::span(&path, 1), file.path(), stop);
    profile::scrub(database);
    database.execute("VACUUM");  // free pages and ends of pages still hold what was there
  } catch (const profile::SqliteError& error) {
    if (error.interrupted()) {
      throw Cancelled();
    }
    throw;
  }
  if (stop.stop_requested()) {
    throw Cancelled();
  }
  file.publish();
}

}  // namespace reprise
