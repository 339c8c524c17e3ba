// A writer that is killed while it opens a file, records, replays or flushes: the file is sound,
// holds whole graphs and the first replays without a gap, has everything that was flushed, and
// takes another run.
#include <array>
#include <atomic>
#include <csignal>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tests/profile/sql.h"
#include "tests/profile/timed_replays.h"
#include "tests/profile_faults/file_state.h"
#include "tests/profile_faults/injector.h"
#include "tests/testing.h"

namespace reprise {
namespace {

using test::sql;
using test::TempFolder;
using Clock = std::chrono::steady_clock;

enum class Doing : std::uint8_t { record, replay, flush };
constexpr std::array kAll{Doing::record, Doing::replay, Doing::flush};
constexpr std::uint64_t kGraphs = 12;

/// What a child does and did, in memory it shares: it survives the child.
struct Progress {
  std::atomic<bool> opened{false};
  std::array<std::atomic<std::uint64_t>, kAll.size()> begun{};
  std::atomic<std::uint64_t> replays{0};                           // sent
  std::atomic<std::uint64_t> recordings{0};                        // sent
  std::atomic<std::uint64_t> kept_replays{0}, kept_recordings{0};  // sent before a flush that ended
};

class SharedProgress {
 public:
  SharedProgress()
      : memory_(mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                     -1, 0)) {}
  SharedProgress(const SharedProgress&) = delete;
  SharedProgress& operator=(const SharedProgress&) = delete;
  ~SharedProgress() { munmap(memory_, sizeof(Progress)); }
  Progress& begin_anew() { return *new (memory_) Progress; }

 private:
  void* memory_;
};

std::shared_ptr<const ExecutionPlan> make_graph(std::uint64_t which) {
  test::GraphOptions options;
  options.name = "graph " + std::to_string(which);
  options.scales = which * 20;
  return test::GraphMaker(options).make();
}

void spin(std::chrono::microseconds time) {
  const auto until = Clock::now() + time;
  while (Clock::now() < until) {
  }
}

/// Replays are numbered from 1 over all recordings, as submissions.
class Child {
 public:
  Child(const std::filesystem::path& path, std::uint64_t seed, Progress& progress)
      : random_(seed), progress_(progress), sink_(open_profile(path, {})) {
    progress_.opened = true;
    sink_->device(test::nanosecond_device());
  }
  [[noreturn]] void run() {
    for (;;) {
      record();
      for (std::uint64_t replays = 20 + random_() % 100; replays > 0; --replays) {
        replay();
        if (random_() % 40 == 0) {
          flush();
        }
      }
    }
  }

 private:
  void begin(Doing what) { ++progress_.begun[static_cast<std::size_t>(what)]; }
  void record() {
    const auto graph = make_graph(random_() % kGraphs);
    steps_ = graph->steps.size();
    begin(Doing::record);
    recording_ = test::send_recording(*sink_, graph);
    ++progress_.recordings;
  }
  void replay() {
    const std::uint64_t number = progress_.replays + 1;
    const test::TimedReplay replay(recording_, number, test::random_durations(random_, steps_));
    begin(Doing::replay);
    sink_->replay(replay.record);
    progress_.replays = number;
    spin(std::chrono::microseconds(50));  // the ring does not run full
  }
  void flush() {
    begin(Doing::flush);
    const std::uint64_t recordings = progress_.recordings;
    const std::uint64_t replays = progress_.replays;
    sink_->flush();
    progress_.kept_recordings = recordings;
    progress_.kept_replays = replays;
  }

  std::mt19937_64 random_;
  Progress& progress_;
  std::shared_ptr<ProfileSink> sink_;
  std::uint64_t recording_ = 0;
  std::size_t steps_ = 0;
};

class KilledWriter : public ::testing::Test {
 protected:
  KilledWriter() {
    const auto sink = open_profile(sound_, {});
    sink->device(test::nanosecond_device());
    for (std::uint64_t graph = 0; graph < kGraphs; ++graph) {
      test::send_recording(*sink, make_graph(graph));
    }
  }

  /// A writer of `path` that is killed when `now` says so, or by its k-th call of a file.
  template <class Now>
  void write_until(const std::filesystem::path& path, const Now& now, std::uint64_t k = 0) {
    progress_ = &shared_.begin_anew();
    const std::uint64_t seed = random_();
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (k > 0) {
        test::failing_files().arm(k, test::Later::dies);
      }
      Child(path, seed, *progress_).run();
    }
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
      if (now()) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        break;
      }
    }
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  }
  void write_until_call(const std::filesystem::path& path, std::uint64_t k) {
    write_until(
        path, [] { return false; }, k);
  }

  void expect_sound(const std::filesystem::path& path) const {
    EXPECT_EQ(test::findings(path), "");  // first: it reads what the writer left
    EXPECT_EQ(test::integrity(path), "ok");
    EXPECT_EQ(test::graphs_that_differ(path, sound_), "");
    const auto number = [&](const char* query) { return std::stoull(sql(path, query)); };
    const std::uint64_t replays = number("SELECT count(*) FROM replays");
    EXPECT_EQ(number("SELECT coalesce(max(submission), 0) FROM replays"), replays);
    EXPECT_EQ(number("SELECT count(DISTINCT submission) FROM replays"), replays);
    EXPECT_GE(replays, progress_->kept_replays);
    EXPECT_LE(replays, progress_->replays + 1);  // one may have been sent and not counted yet
    const std::uint64_t recordings = number("SELECT count(*) FROM recordings");
    EXPECT_GE(recordings, progress_->kept_recordings);
    EXPECT_LE(recordings, progress_->recordings + 1);
    EXPECT_EQ(sql(path, "SELECT * FROM drops"), "");
  }

  static void expect_takes_another_run(const std::filesystem::path& path,
                                       const std::string& states) {
    {
      const auto sink = open_profile(path, {});
      sink->device(test::nanosecond_device());
      test::send_run(*sink, make_graph(3), 2);
    }
    EXPECT_EQ(sql(path, "SELECT exit_state FROM runs ORDER BY id"), states + "done");
    EXPECT_EQ(sql(path, "SELECT replays FROM v_runs ORDER BY id DESC LIMIT 1"), "3");
    EXPECT_EQ(test::findings(path),
              states.empty() ? "" : "runs: run 1 did not end well: crashed\n");
  }

  void expect_goes_on(const std::filesystem::path& path) const {
    if (progress_->opened) {
      expect_sound(path);
      return expect_takes_another_run(path, "crashed\n");
    }
    std::string runs;
    if (std::filesystem::exists(path)) {
      EXPECT_EQ(test::integrity(path), "ok");
      runs = sql(path, "SELECT count(*) FROM runs");  // an error while there are no tables
    }
    expect_takes_another_run(path, runs == "1" ? "crashed\n" : "");
  }

  void kill_while_working(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      const TempFolder folder;
      const auto path = folder / "profile.db";
      const auto doing = static_cast<std::size_t>(round) % kAll.size();
      const std::uint64_t times = 1 + random_() % (kAll[doing] == Doing::replay ? 400 : 8);
      const std::chrono::microseconds later(random_() %
                                            (kAll[doing] == Doing::flush ? 3000 : 30'000));
      SCOPED_TRACE("round " + std::to_string(round));
      write_until(path, [&] {
        const bool now = progress_->begun[doing] >= times;
        spin(now ? later : std::chrono::microseconds(0));
        return now;
      });
      expect_goes_on(path);
    }
  }

  /// Opening takes about the first 150 calls.
  void kill_in_calls(int rounds, std::uint64_t max) {
    for (int round = 0; round < rounds; ++round) {
      const TempFolder folder;
      const std::uint64_t k = 1 + random_() % max;
      SCOPED_TRACE("call " + std::to_string(k));
      write_until_call(folder / "profile.db", k);
      expect_goes_on(folder / "profile.db");
    }
  }

  const std::uint64_t seed_ = testing::test_seed();
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, testing::seed_note(seed_)};
  std::mt19937_64 random_{seed_};
  const TempFolder folder_;
  const std::filesystem::path sound_ = folder_ / "sound.db";  // has all graphs
  SharedProgress shared_;
  Progress* progress_ = nullptr;
};
using LongKilledWriter = KilledWriter;

TEST_F(KilledWriter, LeavesASoundFileWhateverItDid) { kill_while_working(12); }
TEST_F(KilledWriter, LeavesAFileToGoOnWithInTheMiddleOfOpeningIt) { kill_in_calls(25, 150); }
TEST_F(KilledWriter, LeavesASoundFileInTheMiddleOfACallToIt) { kill_in_calls(10, 2000); }
TEST_F(LongKilledWriter, LeavesASoundFileAHundredTimes) { kill_while_working(102); }
TEST_F(LongKilledWriter, LeavesAFileToGoOnWithInTheMiddleOfOpeningItAHundredTimes) {
  kill_in_calls(100, 150);
}
TEST_F(LongKilledWriter, LeavesASoundFileInTheMiddleOfAHundredCallsToIt) {
  kill_in_calls(100, 2000);
}

}  // namespace
}  // namespace reprise
