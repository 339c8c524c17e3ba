// No column of a profiling database is shared unless somebody decided that it may be.
#include <fstream>
#include <gmock/gmock.h>
#include <regex>
#include <set>
#include <sstream>

#include "framework/profile/profile_rewrite.h"
#include "tests/profile_cli/timed_database.h"

namespace reprise {
namespace {

using test::sql;
using ::testing::ContainerEq;

/// Texts and blobs that `reprise db scrub` keeps, and those it takes away. A new column of the
/// schema belongs into one of them, and into the list of framework/profile/scrub.cpp if it is kept.
constexpr auto kKept = std::to_array<std::string_view>({"barrier_causes.kind",
                                                        "barriers.kind",
                                                        "barriers.reason",
                                                        "benchmarks.test",
                                                        "benchmarks.backend",
                                                        "benchmarks.precision",
                                                        "benchmarks.model_type",
                                                        "benchmarks.samples_ns_json",
                                                        "benchmarks.peer",
                                                        "benchmarks.test_time",
                                                        "buffers.name",
                                                        "buffers.kind",
                                                        "builds.version",
                                                        "builds.git_commit",
                                                        "builds.compiler",
                                                        "builds.build_type",
                                                        "cache_counters.counter",
                                                        "cache_counters.reason",
                                                        "comparisons.name",
                                                        "counters.name",
                                                        "counters.unit",
                                                        "devices.backend",
                                                        "devices.name",
                                                        "devices.driver_name",
                                                        "devices.driver_info",
                                                        "devices.api_version",
                                                        "devices.type",
                                                        "devices.limits_json",
                                                        "devices.features_json",
                                                        "drops.what",
                                                        "drops.reason",
                                                        "edges.kind",
                                                        "events.source",
                                                        "events.code",
                                                        "expert_residency.layer",
                                                        "graphs.content_hash",
                                                        "graphs.structure_hash",
                                                        "graphs.name",
                                                        "hosts.os",
                                                        "hosts.cpu_model",
                                                        "kernels.name",
                                                        "kernels.spirv_hash",
                                                        "kernels.entry",
                                                        "kernels.spec_json",
                                                        "memory_samples.purpose",
                                                        "meta.value",
                                                        "node_stats.phase",
                                                        "node_stats.hist",
                                                        "node_tensors.operand",
                                                        "nodes.op",
                                                        "nodes.family",
                                                        "nodes.label",
                                                        "nodes.scope",
                                                        "nodes.src_func",
                                                        "pass_decisions.pass",
                                                        "pass_decisions.kind",
                                                        "pass_decisions.reason",
                                                        "pools.kind",
                                                        "recordings.evicted_reason",
                                                        "replays.phase",
                                                        "runs.run_uuid",
                                                        "runs.quant",
                                                        "runs.label",
                                                        "runs.start_utc",
                                                        "runs.exit_state",
                                                        "scopes.thread",
                                                        "scopes.name",
                                                        "scopes.category",
                                                        "sessions.name",
                                                        "sessions.thread",
                                                        "sessions.precision",
                                                        "state_fields.name",
                                                        "state_fields.type",
                                                        "state_fields.owner",
                                                        "state_fields.expression",
                                                        "step_timings.data",
                                                        "steps.kind",
                                                        "steps.push",
                                                        "tensor_stats.hist",
                                                        "tensors.name",
                                                        "tensors.dtype",
                                                        "tensors.shape_json",
                                                        "tensors.strides_json",
                                                        "tensors.role"});
constexpr auto kGone = std::to_array<std::string_view>({"builds.flags",
                                                        "cache_counters.key_json",
                                                        "comparisons.reference",
                                                        "devices.device_uuid",
                                                        "devices.driver_uuid",
                                                        "events.message",
                                                        "hosts.hostname",
                                                        "hosts.kernel",
                                                        "hosts.machine_id_hash",
                                                        "kernels.source",
                                                        "kernels.source_path",
                                                        "kernels.spirv",
                                                        "meta.key",
                                                        "nodes.attributes_json",
                                                        "nodes.src_file",
                                                        "recordings.key_json",
                                                        "recordings.stale_reason",
                                                        "replays.state",
                                                        "runs.app",
                                                        "runs.argv_json",
                                                        "runs.env_json",
                                                        "runs.model_path",
                                                        "runs.model_hash",
                                                        "runs.notes",
                                                        "sessions.outcome",
                                                        "snapshots.dtype",
                                                        "snapshots.shape_json",
                                                        "snapshots.content_hash",
                                                        "snapshots.external_path",
                                                        "steps.grid_expr"});
/// A CHECK allows a few words only, or one of two columns, of which the other one is tried.
constexpr auto kRefused =
    std::to_array<std::string_view>({"node_tensors.access", "sessions.mode", "snapshots.data"});

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// A path, as paths lose all but their last part.
std::string marker_of(const std::string& column) { return "/MARK " + column + " KRAM/x"; }

class ScrubbedColumns : public test::TimedDatabase {
 protected:
  std::vector<std::string> query(const std::string& text) const {
    return lines_of(sql(path_, text));
  }
  void run(const std::string& statement) const {
    ASSERT_EQ(sql(path_, statement), "") << statement;
  }
  /// A row in every table.
  void fill() const {
    test::write_run(path_);
    run("INSERT INTO memory_samples(run_id,device_id,t_ns,purpose,used_bytes,peak_bytes,buffers) "
        "VALUES(1,1,1,'x',1,1,1)");
    run("INSERT INTO snapshots(replay_id,graph_id,tensor_idx,node_idx,t_ns,dtype,shape_json,nbytes,"
        "content_hash,external_path) VALUES(1,1,0,0,1,'x','x',1,'x','x')");
    for (const std::string& table : query("SELECT name FROM sqlite_schema WHERE type='table' AND "
                                          "name NOT LIKE 'sqlite%'")) {
      if (sql(path_, "SELECT count(*) FROM " + table) == "0") {
        const std::string of_table = " FROM pragma_table_info('" + table + "')";
        run("INSERT INTO " + table + "(" + sql(path_, "SELECT group_concat(name)" + of_table) +
            ") VALUES(" + sql(path_, "SELECT group_concat(1)" + of_table) + ")");
      }
    }
    run("UPDATE expert_residency SET recording_id=(SELECT id FROM recordings)");
  }
  /// Puts its marker into the column; false if a CHECK refuses it.
  bool plant(const std::string& column) const {
    const std::size_t dot = column.find('.');
    const std::string table = column.substr(0, dot);
    const std::string marker = "'" + marker_of(column) + "'";
    sql(path_, "UPDATE OR IGNORE " + table + " SET " + column.substr(dot + 1) + "=" + marker);
    return sql(path_, "SELECT count(*)>0 FROM " + table + " WHERE " + column + "=" + marker) == "1";
  }
};

TEST_F(ScrubbedColumns, AreThoseThatSomebodyDecidedAbout) {
  fill();
  std::set<std::string> refused;
  std::set<std::string> planted;
  for (const std::string& column :
       query("SELECT m.name||'.'||c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c "
             "WHERE m.type='table' AND m.name NOT LIKE 'sqlite%' AND c.type IN ('TEXT','BLOB')")) {
    (plant(column) ? planted : refused).insert(column);
  }
  std::set<std::string> decided(kKept.begin(), kKept.end());
  decided.insert(kGone.begin(), kGone.end());
  EXPECT_THAT(planted, ContainerEq(decided));
  EXPECT_THAT(refused, ContainerEq(std::set<std::string>(kRefused.begin(), kRefused.end())));

  const std::filesystem::path out = folder_ / "out.db";
  scrub_profile(path_, out);
  std::ostringstream bytes;
  bytes << std::ifstream(out, std::ios::binary).rdbuf();
  const std::string content = bytes.str();
  std::set<std::string> left;
  const std::regex marker("MARK ([a-z_.]+) KRAM");
  for (std::sregex_iterator it(content.begin(), content.end(), marker), end; it != end; ++it) {
    left.insert((*it)[1]);
  }
  EXPECT_THAT(left, ContainerEq(std::set<std::string>(kKept.begin(), kKept.end())));
  EXPECT_EQ(folder_.files(), 2U);
}

TEST_F(ScrubbedColumns, OfNumbersDoNotHoldTextsEither) {
  test::write_run(path_);
  run("UPDATE nodes SET src_line='SECRET'");
  run("UPDATE replays SET slot='SECRET'");
  scrub_profile(path_, folder_ / "out.db");
  EXPECT_EQ(sql(folder_ / "out.db",
                "SELECT DISTINCT src_line FROM nodes; SELECT DISTINCT slot FROM replays"),
            "NULL\nNULL");
}

}  // namespace
}  // namespace reprise
