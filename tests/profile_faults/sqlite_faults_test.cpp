// SQLite without memory or files, from its first call on, over all that a profile does: opening,
// recording, replaying, flushing, closing. Only opening may throw; results are right, what is not
// written is counted, and the file is sound and holds what was committed.
#include <functional>

#include "framework/profile/profile_check.h"
#include "framework/profile/profile_reader.h"
#include "tests/profile/sql.h"
#include "tests/profile/timed_replays.h"
#include "tests/profile_faults/file_state.h"
#include "tests/profile_faults/forward_pass.h"
#include "tests/profile_faults/injector.h"
#include "tests/testing.h"

namespace reprise {
namespace {

using test::Injector;
using test::Later;
using test::sql;
using test::TempFolder;

/// What a program got to know of its profile.
struct Seen {
  bool opened = false;
  std::uint64_t sent = 0;       // replays
  ProfileHealth health;         // after a flush
  bool records_follow = false;  // after that
  std::vector<std::string> told;
};

/// A pass of a program; its results are right whatever happens.
void pass(const std::filesystem::path& path, Seen& seen) {
  const test::PassResult result = test::run_pass(path, [&] { seen.opened = true; });
  test::expect_right(result);
  seen = {true, result.replays, result.health, true, result.told};
}

/// Records of every kind, some of them refused, more step times than are kept.
void records(const std::filesystem::path& path, Seen& seen) {
  ProfileLimits limits;
  limits.step_timing_bytes = 2000;
  const auto sink = open_profile(
      path, {}, [&](LogLevel, std::string_view text) { seen.told.emplace_back(text); }, limits);
  seen.opened = true;
  sink->device(test::nanosecond_device());
  const auto graph = test::GraphMaker({.scales = 3}).make();
  const std::uint64_t recording = test::send_recording(*sink, graph);
  RecordingRecord refused;  // a graph of its own, which must not stay
  refused.id = recording;
  refused.plan = test::GraphMaker({.name = "refused", .scales = 5}).make();
  const RecordingRecord again = refused;
  sink->send(std::move(refused));
  sink->send(ClockRecord{1, 2, 3, 4});
  sink->send(EventRecord{LogLevel::info, "test", "", "x", 0, recording, 5});
  sink->send(HostScopeRecord{sink->next_id(), 0, "scope", "", "", 1, 2});
  const std::vector<std::uint64_t> step_ns(graph->steps.size(), 10);
  for (std::uint64_t r = 0; r < 40; ++r) {
    sink->replay(test::TimedReplay(recording, r, step_ns).record);
    if (r == 10) {
      sink->flush();
      sink->send(again);
    }
  }
  sink->flush();
  seen.sent = 40;
  seen.health = sink->health();
  EXPECT_GE(seen.health.records_dropped, 2U);
  EXPECT_LE(seen.health.records_dropped, 9U);  // all, each counted once
  EXPECT_LE(seen.health.timings_dropped, seen.sent);
}

constexpr const char* kEarlierRows =
    "SELECT * FROM runs WHERE id=1; SELECT * FROM graphs WHERE id=1; SELECT * FROM recordings "
    "WHERE "
    "run_id=1; SELECT id, recording_id, seq, hex(state) FROM replays WHERE recording_id IN (SELECT "
    "id FROM recordings WHERE run_id=1); SELECT * FROM nodes WHERE graph_id=1; SELECT * FROM steps "
    "WHERE graph_id=1";

class SqliteFaults : public ::testing::Test {
 protected:
  using Program = std::function<void(const std::filesystem::path&, Seen&)>;
  SqliteFaults() {
    test::expect_right(test::run_pass(earlier_));
    earlier_bytes_ = test::bytes_of_file(earlier_);
    earlier_rows_ = sql(earlier_, kEarlierRows);
  }

  /// Every `stride`-th call fails, once and for ever, of a program that appends to a file or makes
  /// one.
  void sweep(Injector& injector, const Program& program, std::uint64_t stride) {
    for (const bool append : {true, false}) {
      for (const Later later : {Later::works, Later::fails}) {
        std::uint64_t k = 1 + random_() % stride;
        std::uint64_t runs = 0;
        while (fail_one(injector, program, append, later, k)) {
          k += stride;
          ++runs;
        }
        std::printf("%s, %s: %llu faults\n", append ? "append" : "create",
                    later == Later::works ? "once" : "from there on",
                    static_cast<unsigned long long>(runs));
        EXPECT_GT(runs, 0U);
      }
    }
  }

 private:
  /// False if the program does not make so many calls.
  bool fail_one(Injector& injector, const Program& program, bool append, Later later,
                std::uint64_t k) {
    SCOPED_TRACE(std::string(append ? "append" : "create") + ", call " + std::to_string(k) +
                 (later == Later::works ? "" : " and later"));
    const TempFolder folder;
    const auto path = folder / "profile.db";
    if (append) {
      test::write_file(path, earlier_bytes_);
    }
    Seen seen;
    injector.arm(k, later);
    try {
      program(path, seen);
    } catch (const Error& error) {
      EXPECT_FALSE(seen.opened) << error.what();
      EXPECT_TRUE(error.code() == ErrorCode::io || error.code() == ErrorCode::out_of_memory)
          << error.what();
      EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos) << error.what();
    }
    injector.disarm();
    if (!seen.opened && !(append && later == Later::fails)) {  // who cannot clean up leaves a log
      EXPECT_EQ(folder.files(), append ? 1U : 0U);
    }
    judge(path, append, seen);
    return injector.failures() > 0;
  }

  void judge(const std::filesystem::path& path, bool append, const Seen& seen) {
    if (!append && !seen.opened) {
      return;
    }
    EXPECT_EQ(test::integrity(path), "ok");
    if (append) {
      EXPECT_EQ(sql(path, kEarlierRows), earlier_rows_);
    }
    if (seen.opened) {
      judge_run(path, append ? "2" : "1", seen);
    }
    test::expect_right(test::run_pass(path));  // it takes another run
    for (const ProfileFinding& finding : check_profile(path)) {
      EXPECT_TRUE(finding.about == "drops" || finding.about == "runs")
          << finding.about << ": " << finding.message;
    }
    EXPECT_EQ(read_profile_info(path).runs.back().exit_state, "done");
  }

  void judge_run(const std::filesystem::path& path, const std::string& run, const Seen& seen) {
    EXPECT_EQ(seen.health.replays_committed + seen.health.replays_dropped, seen.sent);
    EXPECT_LE(seen.told.size(), 1U);
    EXPECT_TRUE(!seen.health.stopped || seen.told.size() == 1);
    const std::string of_run = "recordings WHERE run_id=" + run;
    const auto number = [&](const std::string& query) { return std::stoull(sql(path, query)); };
    const std::uint64_t kept = number(
        "SELECT count(*) FROM replays WHERE recording_id IN (SELECT id FROM " + of_run + ")");
    // A commit that failed after its last byte was written may be found by a later opening.
    EXPECT_GE(kept, seen.health.replays_committed);
    EXPECT_LE(kept, seen.sent);
    EXPECT_EQ(sql(path, "SELECT id FROM graphs WHERE id NOT IN (SELECT graph_id FROM recordings)"),
              "");  // a record is there as a whole
    const std::string state =
        sql(path, "SELECT coalesce(exit_state, 'none') FROM runs WHERE id=" + run);
    const auto dropped = [&](const std::string& what) {
      return number("SELECT coalesce(sum(count), 0) FROM drops WHERE " + what +
                    " AND run_id=" + run);
    };
    if (state == "profiling stopped") {
      EXPECT_EQ(dropped("what='replay'"), seen.health.replays_dropped);
      EXPECT_EQ(dropped("what='step_timings'"), seen.health.timings_dropped);
      const std::uint64_t records = dropped("what NOT IN ('replay', 'step_timings')");
      EXPECT_GE(records, seen.health.records_dropped);
      EXPECT_TRUE(records == seen.health.records_dropped || seen.records_follow) << records;
      EXPECT_EQ(sql(path, "SELECT code FROM events WHERE severity=3 AND run_id=" + run),
                "writer_stopped");
    } else if (state == "done") {
      EXPECT_EQ(dropped("what='replay'"), 0U);
      EXPECT_EQ(kept, seen.sent);
    } else {
      EXPECT_EQ(state, "none");
    }
  }

  const std::uint64_t seed_ = testing::test_seed();
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, testing::seed_note(seed_)};
  std::mt19937_64 random_{seed_};
  const TempFolder folder_;
  const std::filesystem::path earlier_ = folder_ / "earlier.db";  // has one run
  std::string earlier_bytes_, earlier_rows_;
};
using LongSqliteFaults = SqliteFaults;

TEST_F(SqliteFaults, OfMemoryNeverReachAPass) { sweep(test::failing_memory(), pass, 1000); }
TEST_F(SqliteFaults, OfMemoryLoseNoRecordUncounted) {
  sweep(test::failing_memory(), records, 1000);
}
TEST_F(SqliteFaults, OfFilesNeverReachAPass) { sweep(test::failing_files(), pass, 60); }
TEST_F(SqliteFaults, OfFilesLoseNoRecordUncounted) { sweep(test::failing_files(), records, 60); }
TEST_F(LongSqliteFaults, OfAnyAllocationNeverReachAPass) { sweep(test::failing_memory(), pass, 1); }
TEST_F(LongSqliteFaults, OfAnyAllocationLoseNoRecordUncounted) {
  sweep(test::failing_memory(), records, 1);
}
TEST_F(LongSqliteFaults, OfAnyCallOfAFileNeverReachAPass) { sweep(test::failing_files(), pass, 1); }
TEST_F(LongSqliteFaults, OfAnyCallOfAFileLoseNoRecordUncounted) {
  sweep(test::failing_files(), records, 1);
}

}  // namespace
}  // namespace reprise
