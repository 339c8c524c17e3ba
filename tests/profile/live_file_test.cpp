// A file that is being written: readers are never refused, and a writer that is killed at any
// moment leaves it sound, with everything it acknowledged.
#include <atomic>
#include <csignal>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>

#include "tests/profile/sql.h"
#include "tests/profile/timed_replays.h"
#include "tests/testing.h"

namespace reprise {
namespace {

using test::GraphMaker;
using test::GraphOptions;
using test::nanosecond_device;
using test::random_durations;
using test::send_recording;
using test::sql;
using test::TempFolder;
using test::TimedReplay;

/// Asks without waiting for locks, on a connection of its own, until told to stop.
struct Poller {
  explicit Poller(const std::filesystem::path& path) : thread([this, path] { run(path); }) {}
  void run(const std::filesystem::path& path) {
    while (!stop) {
      sqlite3* db = nullptr;
      sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READONLY, nullptr);
      sqlite3_busy_timeout(db, 0);
      for (int i = 0; i < 100 && !stop; ++i) {
        for (const char* query :
             {"SELECT * FROM v_top_nodes LIMIT 20",
              "SELECT * FROM v_replays ORDER BY id DESC LIMIT 20", "SELECT * FROM v_errors",
              "SELECT max(t_ns) FROM writer_health"}) {
          const int code = sqlite3_exec(db, query, nullptr, nullptr, nullptr);
          ++polls;
          busy += code == SQLITE_BUSY ? 1 : 0;
          failed += code == SQLITE_OK ? 0 : 1;
        }
      }
      sqlite3_close(db);
    }
  }
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> polls{0}, busy{0}, failed{0};
  std::thread thread;
};

TEST(LiveFile, ReadersAreNeverRefusedWhileReplaysAreWrittenAtFullSpeed) {
  const TempFolder folder;
  const auto path = folder / "profile.db";
  GraphOptions options;
  options.scales = 100;
  const auto graph = GraphMaker(options).make();
  const std::vector<std::uint64_t> step_ns(graph->steps.size(), 10);
  const auto sink = open_profile(path, {});
  sink->device(nanosecond_device());
  const std::uint64_t recording = send_recording(*sink, graph);
  Poller poller(path);
  long long most_log_bytes = 0;
  for (std::uint64_t r = 0; r < 20'000; ++r) {  // 33 MB of step times: several checkpoints
    sink->replay(TimedReplay(recording, r, step_ns).record);
    if (r % 1000 == 999) {
      sink->flush();
      sink->send(EventRecord{LogLevel::warning, "test", "", "x", 0, 0, 0});
      most_log_bytes = std::max(most_log_bytes,
                                std::stoll(sql(path, "SELECT max(wal_bytes) FROM writer_health")));
    }
  }
  sink->flush();
  poller.stop = true;
  poller.thread.join();
  EXPECT_EQ(poller.busy, 0U);
  EXPECT_EQ(poller.failed, 0U);
  EXPECT_GT(poller.polls, 100U);
  EXPECT_GT(most_log_bytes, 8 << 20);  // it was checkpointed
  EXPECT_EQ(sink->health().replays_committed + sink->health().replays_dropped, 20'000U);
  std::printf("%llu polls\n", static_cast<unsigned long long>(poller.polls));
}

/// What a child that is killed leaves in memory it shares.
struct Progress {
  std::atomic<std::uint64_t> sent{0}, acknowledged{0};
  std::atomic<std::int64_t> last_ns{0};  // when the last replay was sent
};

/// Profiles for ever: replays, and a new graph every 500 of them. With a pause the writer keeps up.
[[noreturn]] void profile(const std::filesystem::path& path, std::uint64_t seed,
                          std::chrono::microseconds pause, Progress& progress) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const auto sink = open_profile(path, {});
  sink->device(nanosecond_device());
  std::mt19937_64 random(seed);
  for (std::uint64_t graphs = 0;; ++graphs) {
    GraphOptions options;
    options.name = "graph " + std::to_string(graphs);
    options.scales = random() % 50;
    const auto graph = GraphMaker(options).make();
    const std::uint64_t recording = send_recording(*sink, graph);
    const auto step_ns = random_durations(random, graph->steps.size());
    for (std::uint64_t r = 0; r < 500; ++r) {
      TimedReplay replay(recording, r, step_ns);
      replay.record.submit_time_ns =
          std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
      sink->replay(replay.record);
      progress.last_ns = replay.record.submit_time_ns;
      ++progress.sent;
      if (random() % 300 == 0) {
        sink->flush();
        progress.acknowledged = sink->health().replays_committed;
      }
      const auto until = std::chrono::steady_clock::now() + pause;
      while (std::chrono::steady_clock::now() < until) {
      }
    }
  }
}

TEST(LiveFile, SurvivesTwentyKillsWithEverythingThatWasAcknowledged) {
  const std::uint64_t seed = testing::test_seed();
  SCOPED_TRACE(testing::seed_note(seed));
  std::mt19937_64 random(seed);
  void* const shared =
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  int sound = 0;
  // At full speed, and of a writer that keeps up.
  std::array<std::uint64_t, 2> sent{}, lost{};
  std::array<std::int64_t, 2> longest_lost_ns{};
  for (unsigned round = 0; round < 20; ++round) {
    const bool paced = round % 2 == 1;
    const TempFolder folder;
    const auto path = folder / "profile.db";
    auto& progress = *new (shared) Progress;
    const std::uint64_t child_seed = random();
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      profile(path, child_seed, std::chrono::microseconds(paced ? 200 : 0), progress);
    }
    const std::uint64_t enough = 300 + random() % (paced ? 700 : 30'000);
    while ((progress.acknowledged == 0 || progress.sent < enough) &&
           waitpid(child, nullptr, WNOHANG) == 0) {
      std::this_thread::yield();
    }
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);

    const std::uint64_t acknowledged = progress.acknowledged;
    EXPECT_GT(acknowledged, 0U);
    EXPECT_EQ(sql(path, "SELECT exit_state FROM runs"), "NULL");
    const std::string check = sql(path, "PRAGMA integrity_check; PRAGMA foreign_key_check");
    EXPECT_EQ(check, "ok");
    sound += check == "ok" ? 1 : 0;
    const std::uint64_t kept = std::stoull(sql(path, "SELECT count(*) FROM replays"));
    EXPECT_GE(kept, acknowledged);
    EXPECT_EQ(sql(path,
                  "SELECT g.name FROM graphs g WHERE node_count<>(SELECT count(*) FROM nodes WHERE "
                  "graph_id=g.id) OR step_count<>(SELECT count(*) FROM steps WHERE graph_id=g.id) "
                  "OR edge_count<>(SELECT count(*) FROM edges WHERE graph_id=g.id) OR "
                  "barrier_count<>(SELECT count(*) FROM barriers WHERE graph_id=g.id)"),
              "");
    sent[paced ? 1 : 0] += progress.sent;
    lost[paced ? 1 : 0] = std::max(lost[paced ? 1 : 0], progress.sent - kept);
    longest_lost_ns[paced ? 1 : 0] =
        std::max(longest_lost_ns[paced ? 1 : 0],
                 progress.last_ns -
                     std::int64_t{std::stoll(sql(path, "SELECT max(t_submit_ns) FROM replays"))});
  }
  munmap(shared, sizeof(Progress));
  std::printf("%d of 20 files sound\n", sound);
  for (const std::size_t paced : {0U, 1U}) {
    std::printf("%s: lost at most %llu replays, %.1f ms (%llu sent)\n",
                paced == 0 ? "full speed, drops included" : "writer keeps up",
                static_cast<unsigned long long>(lost[paced]),
                static_cast<double>(longest_lost_ns[paced]) / 1e6,
                static_cast<unsigned long long>(sent[paced]));
  }
}

}  // namespace
}  // namespace reprise
