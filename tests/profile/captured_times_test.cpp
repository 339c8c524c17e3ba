// Replays, step times, node times and histograms against what was sent.
#include <algorithm>
#include <functional>
#include <numeric>

#include <sqlite3.h>

#include "framework/profile/capture_reader.h"
#include "framework/profile/profile_snapshot.h"
#include "tests/profile/sql.h"
#include "tests/profile/timed_replays.h"
#include "tests/testing.h"

namespace reprise {
namespace {

using test::GraphMaker;
using test::GraphOptions;
using test::nanosecond_device;
using test::node_times;
using test::random_durations;
using test::run_info;
using test::send_recording;
using test::sql;
using test::TempFolder;
using test::TimedReplay;

constexpr CaptureId kWritten{1, 1};

class CapturedTimes : public ::testing::Test {
 protected:
  CapturedTimes() {
    GraphOptions options;
    options.scales = random_() % 10;
    graph_ = GraphMaker(options).make();
    sink_ = open_profile(path_, {});
    sink_->device(nanosecond_device());
    recording_ = send_recording(*sink_, graph_);
  }
  /// Their step durations, in order.
  std::vector<std::vector<std::uint64_t>> send(std::size_t replays) {
    std::vector<std::vector<std::uint64_t>> sent;
    for (std::size_t r = 0; r < replays; ++r) {
      TimedReplay replay(recording_, next_++, random_durations(random_, graph_->steps.size()));
      const std::array<std::uint32_t, 3> state{static_cast<std::uint32_t>(random_()), 2, 3};
      replay.record.state = state;
      sent.push_back(replay.durations);
      sink_->replay(replay.record);
    }
    sink_->flush();
    return sent;
  }
  std::vector<std::int64_t> ids() const {
    ReplayTable table;
    read_new_replays(path_, kWritten, table);
    std::vector<std::int64_t> found;
    for (const ReplayRow& row : table.rows) {
      found.push_back(row.id);
    }
    return found;
  }
  const std::uint64_t seed_ = testing::test_seed();
  std::mt19937_64 random_{seed_};
  TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "profile.db";
  std::shared_ptr<const ExecutionPlan> graph_;
  std::shared_ptr<ProfileSink> sink_;
  std::uint64_t recording_ = 0, next_ = 0;
};

TEST_F(CapturedTimes, NewReplaysAreAppended) {
  SCOPED_TRACE(testing::seed_note(seed_));
  ReplayTable table;
  EXPECT_EQ(read_new_replays(path_, kWritten, table), 0U);
  send(5);
  EXPECT_EQ(read_new_replays(path_, kWritten, table), 5U);
  send(7);
  EXPECT_EQ(read_new_replays(path_, kWritten, table), 7U);
  EXPECT_EQ(read_new_replays(path_, kWritten, table), 0U);
  EXPECT_EQ(table.state_words, 3U);
  std::string rows;
  std::string states;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const ReplayRow& row = table.rows[r];
    rows += (r == 0 ? "" : "\n") + std::to_string(row.id) + "|" + std::to_string(row.sequence) +
            "|" + std::to_string(*row.device_ns) + "|" + std::to_string(*row.submit_ns) + "|" +
            row.phase + "|" + std::to_string(static_cast<int>(row.timing_mode)) + "|" +
            (row.warm_up ? "1" : "0") + "|" + std::to_string(row.status);
    const std::string state(reinterpret_cast<const char*>(&table.state[r * 3]), 12);
    states += state;
  }
  EXPECT_EQ(rows, sql(path_,
                      "SELECT id, seq, device_ns, submit_ns, phase, timing_mode, warm_up, status "
                      "FROM replays ORDER BY id"));
  std::string stored;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    stored += test::bytes_of(
        path_, "SELECT state FROM replays WHERE id=" + std::to_string(table.rows[r].id));
  }
  EXPECT_EQ(states, stored);
}

TEST_F(CapturedTimes, ReplaysAreThoseOfOneCapture) {
  GraphOptions other;
  other.name = "other";
  test::send_run(*sink_, GraphMaker(other).make(), 3);
  send(2);
  EXPECT_EQ(ids().size(), 2U);
  ReplayTable table;
  EXPECT_EQ(read_new_replays(path_, {1, 2}, table), 4U);
  EXPECT_EQ(table.rows[0].phase, "other");
  EXPECT_TRUE(table.rows[0].warm_up);
  EXPECT_EQ(read_new_replays(path_, {2, 1}, table = {}), 0U);
}

TEST_F(CapturedTimes, StepTimesAreThoseOfTheReplaysAsked) {
  SCOPED_TRACE(testing::seed_note(seed_));
  const auto sent = send(20);
  const std::vector<std::int64_t> all = ids();
  std::vector<std::int64_t> some;
  std::vector<std::size_t> which;
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (random_() % 2 == 0) {
      some.push_back(all[r]);
      which.push_back(r);
    }
  }
  some.push_back(all.back() + 10);  // no such replay
  std::size_t calls = 0;
  read_step_times(path_, some, sent[0].size(),
                  [&](std::size_t position, std::span<const CapturedStepTime> times) {
                    ASSERT_EQ(position, calls++);
                    std::uint64_t start = 0;
                    for (std::size_t s = 0; s < times.size(); ++s) {
                      EXPECT_EQ(times[s].start_ns, start);
                      EXPECT_EQ(times[s].duration_ns, sent[which[position]][s]);
                      start += sent[which[position]][s];
                    }
                  });
  EXPECT_EQ(calls, which.size());
}

TEST_F(CapturedTimes, AReaderThatOutlivesTheWriterLeavesNoLog) {
  send(3);
  profile::read_snapshot(path_, {}, [&](profile::Database& database) {
    EXPECT_EQ(database.integer("SELECT count(*) FROM replays"), 3);
    sink_.reset();
  });
  EXPECT_EQ(folder_.files(), 1U);
}

/// While it lives, calls `then` when the first row of step times is read.
class AtFirstStepTimes {
 public:
  explicit AtFirstStepTimes(std::function<void()> then) {
    then_ = std::move(then);
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(&watch));
  }
  AtFirstStepTimes(const AtFirstStepTimes&) = delete;
  AtFirstStepTimes& operator=(const AtFirstStepTimes&) = delete;
  ~AtFirstStepTimes() { sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(&watch)); }

 private:
  static int watch(sqlite3* db, char**, const void*) {
    const auto row = [](unsigned, void*, void* statement, void*) {
      const char* text = sqlite3_sql(static_cast<sqlite3_stmt*>(statement));
      // SQLite's own statements have none.
      if (then_ && text != nullptr && std::string_view(text).starts_with("SELECT unit_ns")) {
        std::exchange(then_, nullptr)();
      }
      return 0;
    };
    return sqlite3_trace_v2(db, SQLITE_TRACE_ROW, row, nullptr);
  }
  static inline std::function<void()> then_;
};

TEST_F(CapturedTimes, StepTimesOfAFileThatIsWrittenMeanwhileAreAllOfOneMoment) {
  const std::size_t steps = send(5)[0].size();
  const std::vector<std::int64_t> replays = ids();
  sink_.reset();  // without a log it is read without locks
  // Long ago: a change within one step of file times would not be seen.
  std::filesystem::last_write_time(
      path_, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  const AtFirstStepTimes change(
      [&] { EXPECT_EQ(sql(path_, "UPDATE step_timings SET data=zeroblob(length(data))"), ""); });
  std::vector<std::size_t> positions;
  read_step_times(path_, replays, steps,
                  [&](std::size_t position, std::span<const CapturedStepTime> times) {
                    positions.push_back(position);
                    for (const CapturedStepTime& time : times) {
                      EXPECT_EQ(time.duration_ns, 0U);
                    }
                  });
  EXPECT_EQ(positions, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

TEST_F(CapturedTimes, AnEvenSampleOfTheStepTimesIsTaken) {
  const std::size_t steps = send(100)[0].size();
  std::vector<std::size_t> taken;
  read_step_times(
      path_, ids(), steps, [&](std::size_t position, auto) { taken.push_back(position); }, 4);
  EXPECT_EQ(taken, (std::vector<std::size_t>{0, 25, 50, 75}));
}

TEST_F(CapturedTimes, StepTimesThatCannotBeThoseOfTheGraphAreLeftOut) {
  const std::size_t steps = send(6)[0].size();
  sql(path_,
      "UPDATE step_timings SET codec=2 WHERE replay_id=1; UPDATE step_timings SET unit_ns=0 WHERE "
      "replay_id=2; UPDATE step_timings SET data=x'00' WHERE replay_id=3; UPDATE step_timings SET "
      "unit_ns=9223372036854775807 WHERE replay_id=4; UPDATE step_timings SET data='text' WHERE "
      "replay_id=5");
  std::vector<std::size_t> taken;
  read_step_times(path_, ids(), steps,
                  [&](std::size_t position, auto) { taken.push_back(position); });
  EXPECT_EQ(taken, std::vector<std::size_t>{5});
}

TEST_F(CapturedTimes, NodeTimesAndHistogramsAreThoseOfAllReplays) {
  SCOPED_TRACE(testing::seed_note(seed_));
  const auto sent = send(200);
  sink_.reset();
  const std::vector<NodeTimingTable> tables = read_node_timings(path_, kWritten);
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].phase, "decode");
  EXPECT_EQ(tables[0].timing_mode, TimingMode::node);
  ASSERT_EQ(tables[0].nodes.size(), graph_->graph->nodes.size());
  std::vector<std::vector<std::uint64_t>> of_node(tables[0].nodes.size());
  for (const auto& durations : sent) {
    const std::vector<std::uint64_t> times = node_times(*graph_, durations);
    for (std::size_t n = 0; n < times.size(); ++n) {
      of_node[n].push_back(times[n]);
    }
  }
  for (std::uint32_t n = 0; n < of_node.size(); ++n) {
    const NodeTiming& timing = tables[0].nodes[n].value();
    const auto& times = of_node[n];
    EXPECT_EQ(timing.count, 200U);
    EXPECT_EQ(timing.total_ns, std::accumulate(times.begin(), times.end(), std::uint64_t{0}));
    EXPECT_EQ(timing.min_ns, *std::min_element(times.begin(), times.end()));
    EXPECT_EQ(timing.max_ns, *std::max_element(times.begin(), times.end()));
    EXPECT_EQ(std::to_string(timing.p50_ns) + "|" + std::to_string(timing.p95_ns),
              sql(path_, "SELECT p50_ns, p95_ns FROM node_stats WHERE idx=" + std::to_string(n)));
    EXPECT_NEAR(timing.mean_ns, static_cast<double>(timing.total_ns) / 200, 1e-6);

    const auto stored = read_node_histogram(path_, kWritten, "decode", TimingMode::node, n);
    const auto made = histogram_of(times);
    ASSERT_EQ(stored.size(), made.size());
    std::uint64_t end = made.front().low_ns;
    for (std::size_t b = 0; b < made.size(); ++b) {
      EXPECT_EQ(stored[b].low_ns, made[b].low_ns);
      EXPECT_EQ(stored[b].high_ns, made[b].high_ns);
      EXPECT_EQ(stored[b].count, made[b].count);
      EXPECT_EQ(made[b].low_ns, end);  // without gaps
      end = made[b].high_ns;
      EXPECT_EQ(made[b].count, std::count_if(times.begin(), times.end(), [&](std::uint64_t ns) {
                  return ns >= made[b].low_ns && ns < made[b].high_ns;
                }));
    }
  }
  EXPECT_TRUE(read_node_histogram(path_, kWritten, "other", TimingMode::node, 0).empty());
  EXPECT_TRUE(read_node_histogram(path_, kWritten, "decode", TimingMode::replay, 0).empty());
  EXPECT_TRUE(read_node_timings(path_, {1, 2}).empty());
}

TEST_F(CapturedTimes, TheTableWithTheMostReplaysComesFirst) {
  send(3);
  sink_.reset();
  sql(path_,
      "CREATE TEMP TABLE other AS SELECT * FROM node_stats; UPDATE other SET timing_mode=3, n=9; "
      "INSERT INTO node_stats SELECT * FROM other; UPDATE other SET timing_mode=7; INSERT INTO "
      "node_stats SELECT * FROM other; UPDATE other SET timing_mode=1, idx=999; "
      "INSERT OR IGNORE INTO node_stats SELECT * FROM other LIMIT 1");
  const std::vector<NodeTimingTable> tables = read_node_timings(path_, kWritten);
  ASSERT_EQ(tables.size(), 3U);
  EXPECT_EQ(tables[0].timing_mode, TimingMode::node_serialised);
  EXPECT_EQ(tables[1].timing_mode, TimingMode::node);
  EXPECT_EQ(std::count(tables[2].nodes.begin(), tables[2].nodes.end(), std::nullopt),
            static_cast<std::ptrdiff_t>(graph_->graph->nodes.size()));
}

TEST_F(CapturedTimes, OfPhasesWithoutEndTheFirst64AreRead) {
  send(3);
  sink_.reset();
  std::string insert = "BEGIN; CREATE TEMP TABLE other AS SELECT * FROM node_stats";
  for (int phase = 100; phase < 200; ++phase) {
    insert += "; UPDATE other SET phase='" + std::to_string(phase) +
              "'; INSERT INTO node_stats SELECT * FROM other";
  }
  ASSERT_EQ(sql(path_, insert + "; COMMIT"), "");
  const std::vector<NodeTimingTable> tables = read_node_timings(path_, kWritten);
  ASSERT_EQ(tables.size(), 64U);
  for (std::size_t t = 0; t < tables.size(); ++t) {
    EXPECT_EQ(tables[t].phase, std::to_string(100 + t));
    EXPECT_EQ(std::count(tables[t].nodes.begin(), tables[t].nodes.end(), std::nullopt), 0);
  }
}

TEST(HistogramOf, HoldsTheSmallestAndTheLargestNumber) {
  const std::vector<std::uint64_t> ends{0, ~std::uint64_t{0}};
  const auto buckets = histogram_of(ends);
  EXPECT_EQ(buckets.front().low_ns, 0U);
  EXPECT_EQ(buckets.front().count, 1U);
  EXPECT_EQ(buckets.back().high_ns, ~std::uint64_t{0});
  EXPECT_EQ(buckets.back().count, 1U);
  EXPECT_TRUE(histogram_of({}).empty());
}

}  // namespace
}  // namespace reprise
