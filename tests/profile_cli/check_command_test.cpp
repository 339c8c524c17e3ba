// `reprise db check`: what it finds in files that are wrong in one way each.
#include "debugger/cli/db_commands.h"
#include "framework/profile/profile_check.h"
#include "tests/profile_cli/timed_database.h"

namespace reprise {
namespace {

using test::error_of;
using test::printed;
using test::write_run;

class CheckCommand : public test::TimedDatabase {
 protected:
  CheckCommand() { write_run(path_); }
  /// What the command prints after `change`, and its exit status.
  std::string found(const std::string& change) {
    EXPECT_EQ(test::sql(path_, change), "");
    int status = 0;
    const std::string text = printed([&] { status = cli::print_check({path()}); });
    return text + std::to_string(status);
  }
};

TEST_F(CheckCommand, FindsNothingInWhatTheWriterWrote) {
  write_run(path_, {.label = "second", .replays = 2});
  EXPECT_EQ(found("SELECT 1 WHERE 0"), "nothing is wrong\n0");
}

TEST_F(CheckCommand, FindsCountsThatDisagree) {
  EXPECT_EQ(found("UPDATE graphs SET node_count=9; DELETE FROM steps WHERE idx=4; DELETE FROM "
                  "barriers; DELETE FROM barrier_causes; UPDATE graphs SET barrier_count=0; DELETE "
                  "FROM step_timings; UPDATE "
                  "tensors SET first_use=min(first_use, 3), last_use=3 WHERE last_use=4"),
            "counts: graph 1 has 4 nodes, but says 9\n"
            "counts: graph 1 has 4 steps, but says 5\n3");
}

TEST_F(CheckCommand, FindsCausesOfNoBarrier) {
  EXPECT_EQ(
      found("UPDATE barrier_causes SET barrier=9 WHERE barrier=0 AND idx=0"),
      "references: 1 rows of barrier_causes of graph 1 have a barrier that barriers lacks\n3");
}

TEST_F(CheckCommand, FindsRowsThatNameNothing) {
  EXPECT_EQ(found("UPDATE edges SET tensor_idx=99 WHERE dst=1; UPDATE node_tensors SET "
                  "tensor_idx=-1 WHERE node_idx=0 AND slot=0; UPDATE replays SET recording_id=77 "
                  "WHERE seq=3; UPDATE writer_health SET run_id=5"),
            "references: 1 rows of replays name a row of recordings that it does not have\n"
            "references: 1 rows of node_tensors of graph 1 have a tensor_idx that tensors lacks\n"
            "references: 1 rows of edges of graph 1 have a tensor_idx that tensors lacks\n"
            "references: 1 rows of writer_health have a run_id that runs lacks\n3");
}

TEST_F(CheckCommand, FindsPlacesAndTimesThatCannotBe) {
  EXPECT_EQ(found("UPDATE tensors SET offset_bytes=1000000 WHERE role='activation'; UPDATE "
                  "step_timings SET unit_ns=0 WHERE replay_id=1"),
            "places: 3 tensors of graph 1 end behind their pool\n"
            "timings: 1 replays of graph 1 have times that are not of its 5 steps\n3");
}

TEST_F(CheckCommand, FindsWhatIsMissing) {
  EXPECT_EQ(found("INSERT INTO drops(run_id,t_ns,what,reason,count) VALUES(1,1,'step timings',"
                  "'ring full',3),(1,2,'step timings','ring full',4),(1,2,'replays','x' || "
                  "char(27),1); UPDATE runs SET exit_state=NULL, heartbeat_ns=1"),
            "drops: run 1 lacks 1 replays: x?\n"
            "drops: run 1 lacks 7 step timings: ring full\n"
            "runs: run 1 did not end well: crashed\n3");
}

TEST_F(CheckCommand, FindingsAsJson) {
  test::sql(path_, "UPDATE graphs SET edge_count=0");
  EXPECT_EQ(
      printed([&] {
        cli::print_check({path(), true});
      }),
      "{\n  \"findings\": [\n    {\n      \"about\": \"counts\",\n      \"message\": \"graph 1 "
      "has 3 edges, but says 0\"\n    }\n  ]\n}\n");
}

TEST_F(CheckCommand, AViewInThePlaceOfATableIsAnError) {
  ASSERT_EQ(test::sql(path_,
                      "CREATE TABLE causes AS SELECT * FROM barrier_causes; DROP TABLE "
                      "barrier_causes; CREATE VIEW barrier_causes AS SELECT * FROM causes"),
            "");
  EXPECT_EQ(
      error_of([&] { cli::print_check({path()}); }),
      "The profiling database (" + path() + ") is damaged: the table (barrier_causes) is missing.");
}

TEST_F(CheckCommand, ComputedColumnsAreAnError) {
  ASSERT_EQ(test::sql(path_, "ALTER TABLE nodes ADD COLUMN wide AS (zeroblob(20000000))"), "");
  EXPECT_EQ(
      error_of([&] { cli::print_check({path()}); }),
      "The profiling database (" + path() + ") is damaged: the table (nodes) computes columns.");
}

TEST_F(CheckCommand, AFileThatIsNoneIsAnError) {
  EXPECT_EQ(error_of([&] { cli::print_check({(folder_ / "absent").string()}); }),
            "The profiling database (" + (folder_ / "absent").string() +
                ") cannot be read: there is no such file.");
}

}  // namespace
}  // namespace reprise
