// Step times, node statistics and what stays of them, as SQL shows them.
#include <algorithm>
#include <cmath>
#include <numeric>

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

std::string join(std::initializer_list<std::uint64_t> numbers) {
  std::string text;
  for (const std::uint64_t number : numbers) {
    text += (text.empty() ? "" : "|") + std::to_string(number);
  }
  return text;
}

class NodeTimings : public ::testing::Test {
 protected:
  std::string query(const std::string& text) const { return sql(path_, text); }
  std::shared_ptr<ProfileSink> open(ProfileLimits limits = {}) const {
    auto sink = open_profile(path_, run_info("test", ""), {}, limits);
    sink->device(nanosecond_device());
    return sink;
  }
  std::vector<std::uint64_t> durations() { return random_durations(random_, steps_); }

  const std::uint64_t seed_ = testing::test_seed();
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, testing::seed_note(seed_)};
  std::mt19937_64 random_{seed_};
  TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "profile.db";
  const std::shared_ptr<const ExecutionPlan> graph_ = [] {
    GraphOptions options;
    options.scales = 4;
    return GraphMaker(options).make();
  }();
  const std::size_t steps_ = graph_->steps.size();
};

TEST_F(NodeTimings, AreTheTicksSentInEveryStepAndNode) {
  std::string steps;
  std::string nodes;
  {
    const auto sink = open();
    const std::uint64_t recording = send_recording(*sink, graph_);
    for (std::uint64_t r = 1; r <= 5; ++r) {
      const TimedReplay replay(recording, r, durations());
      sink->replay(replay.record);
      std::uint64_t start = 0;
      for (std::uint64_t s = 0; s < steps_; ++s) {
        steps += join({r, s, graph_->steps[s].node, start, replay.durations[s]}) + "\n";
        start += replay.durations[s];
      }
      const auto times = node_times(*graph_, replay.durations);
      for (std::size_t n = 0; n < times.size(); ++n) {
        nodes += join({r, n, times[n]}) + "\n";
      }
    }
  }
  EXPECT_EQ(query("SELECT replay_id, step, node, start_ns, dur_ns FROM v_step_timings ORDER BY "
                  "replay_id, step") +
                "\n",
            steps);
  EXPECT_EQ(query("SELECT replay_id, node, dur_ns FROM v_node_timings ORDER BY 1, 2") + "\n",
            nodes);
  EXPECT_EQ(query("SELECT count(*), sum(has_step_timings), group_concat(DISTINCT timing_mode) FROM "
                  "v_replays"),
            "5|5|node");
}

TEST_F(NodeTimings, AreNullWhereTheDeviceGaveNone) {
  {
    const auto sink = open();
    const std::uint64_t recording = send_recording(*sink, graph_);
    std::vector<std::uint64_t> ticks(steps_ + 1);
    std::iota(ticks.begin(), ticks.end(), 1000);
    ticks[3] = 0;  // the end of step 2, one of the two of node 2
    ReplayRecord record;
    record.recording = recording;
    record.timing_mode = TimingMode::node;
    record.step_ticks = ticks;
    sink->replay(record);
  }
  EXPECT_EQ(query("SELECT group_concat(step) FROM v_step_timings WHERE dur_ns IS NULL"), "2,3");
  EXPECT_EQ(query("SELECT group_concat(node) FROM v_node_timings WHERE dur_ns IS NULL"), "2");
  EXPECT_EQ(query("SELECT group_concat(node) FROM (SELECT node FROM v_top_nodes ORDER BY node)"),
            "0,1,3,4,5,6");
}

TEST_F(NodeTimings, StatisticsMatchEveryReplayShortOrLongButWarmUpsAndFailures) {
  std::vector<std::vector<std::uint64_t>> times(graph_->graph->nodes.size());
  {
    const auto sink = open();
    sink->send(TimestampBiasRecord{150});
    const std::uint64_t recording = send_recording(*sink, graph_);
    for (std::uint64_t r = 0; r < 700; ++r) {
      std::vector<std::uint64_t> step_ns = durations();
      if (random_() % 16 == 0) {  // seconds instead of microseconds: more than 32 bits hold
        std::ranges::for_each(step_ns, [](std::uint64_t& ns) { ns *= 1'000'000; });
      }
      TimedReplay replay(recording, r, step_ns);
      replay.record.warm_up = r == 0;
      replay.record.status = r == 1 ? ReplayStatus::failed : ReplayStatus::ran;
      if (r % 3 == 2) {
        replay.record.timing_mode = TimingMode::node_serialised;
      } else if (r > 1) {
        const auto sample = node_times(*graph_, replay.durations);
        for (std::size_t n = 0; n < sample.size(); ++n) {
          times[n].push_back(sample[n]);
        }
      }
      sink->replay(replay.record);
    }
  }
  for (std::size_t n = 0; n < times.size(); ++n) {
    auto& values = times[n];
    const std::string of = " FROM node_stats WHERE timing_mode=2 AND idx=" + std::to_string(n);
    const auto below = static_cast<std::uint64_t>(
        std::ranges::count_if(values, [](std::uint64_t ns) { return ns < 450; }));
    EXPECT_EQ(query("SELECT n, sum_ns, min_ns, max_ns, last_ns, below_bias" + of),
              join({values.size(), std::reduce(values.begin(), values.end()),
                    *std::ranges::min_element(values), *std::ranges::max_element(values),
                    values.back(), below}));
    std::ranges::sort(values);
    for (const int percent : {50, 90, 95, 99}) {
      const auto rank = (values.size() * static_cast<std::size_t>(percent) + 99) / 100;
      const auto exact = static_cast<double>(values[rank - 1]);
      EXPECT_NEAR(std::stod(query("SELECT p" + std::to_string(percent) + "_ns" + of)), exact,
                  exact / 32);
    }
  }
  EXPECT_EQ(query("SELECT timing_mode, min(n), max(n), count(*) FROM node_stats GROUP BY 1"),
            "2|465|465|7\n3|233|233|7");
}

TEST_F(NodeTimings, TopNodesBeginWithTheSlowestOfTheLastRunAndAddUpTo100PercentPerMode) {
  for (int run = 0; run < 2; ++run) {
    const auto sink = open();
    const std::uint64_t recording = send_recording(*sink, graph_);
    for (std::uint64_t r = 0; r < 10; ++r) {
      std::vector<std::uint64_t> step_ns(steps_, 100);
      step_ns[run == 0 ? 0 : steps_ - 1] = run == 0 ? 900'000 : 5000;
      TimedReplay replay(recording, r, step_ns);
      replay.record.timing_mode = r < 4 ? TimingMode::node : TimingMode::node_serialised;
      sink->replay(replay.record);
    }
  }
  EXPECT_EQ(query("SELECT run_id, timing_mode, node, op, kernel, replays, total_ms, p50_us, pct, "
                  "gb_per_s, gflops_per_s, source FROM v_top_nodes LIMIT 2"),
            // 5,000 of 6,000 ns; 1,920 bytes and 7 operations in 5,000 ns
            "2|node serialised|6|norm|norm|6|0.03|5.0|83.33|0.384|0.0014|model.cpp:12\n"
            "2|node|6|norm|norm|4|0.02|5.0|83.33|0.384|0.0014|model.cpp:12");
  EXPECT_EQ(query("SELECT run_id, timing_mode, round(sum(pct)) FROM v_top_nodes GROUP BY 1, 2"),
            "1|node|100.0\n1|node serialised|100.0\n2|node|100.0\n2|node serialised|100.0");
  for (const char* view : {"v_top_ops", "v_top_kernels"}) {
    EXPECT_EQ(query("SELECT run_id, timing_mode, round(sum(pct)), round(sum(total_ms), 4) FROM " +
                    std::string(view) + " GROUP BY 1, 2"),
              query("SELECT run_id, timing_mode, round(sum(pct)), round(sum(total_ms), 4) FROM "
                    "v_top_nodes GROUP BY 1, 2"));
  }
}

TEST_F(NodeTimings, ThatCannotBeThoseOfTheStepsAreCountedAsDrops) {
  {
    const auto sink = open();
    const std::uint64_t recording = send_recording(*sink, graph_);
    std::vector<std::uint64_t> ticks(steps_, 5);  // one too few
    ReplayRecord record;
    record.recording = recording;
    record.step_ticks = ticks;
    sink->replay(record);
    sink->flush();
    EXPECT_EQ(sink->health().timings_dropped, 1U);
    EXPECT_EQ(sink->health().replays_committed, 1U);
  }
  EXPECT_EQ(query("SELECT what, reason, count FROM drops"), "step_timings|refused|1");
  EXPECT_EQ(query("SELECT count(*) FROM replays; SELECT count(*) FROM step_timings"), "1\n0");
}

TEST_F(NodeTimings, StayWithinTheirBudgetAndTheFileStopsGrowingByThem) {
  constexpr std::uint64_t kBudget = 200'000;
  constexpr std::uint64_t kReplays = 6000;
  ProfileLimits limits;
  limits.step_timing_bytes = kBudget;
  std::array<std::int64_t, 2> pages{};
  {
    GraphOptions options;
    options.scales = 100;
    const auto graph = GraphMaker(options).make();
    const auto sink = open(limits);
    const std::uint64_t recording = send_recording(*sink, graph);
    const std::vector<std::uint64_t> step_ns(graph->steps.size(), 10);
    for (std::uint64_t r = 0; r < 2 * kReplays; ++r) {
      sink->replay(TimedReplay(recording, r, step_ns).record);
      if (r % 500 == 499) {
        sink->flush();
        EXPECT_LE(std::stoull(query("SELECT sum(length(data)) FROM step_timings")), kBudget);
        EXPECT_EQ(query("SELECT n FROM node_stats LIMIT 1"), std::to_string(r + 1));
      }
      if (r % kReplays == kReplays - 1) {
        pages[r / kReplays] = std::stoll(query("PRAGMA page_count"));
      }
    }
    EXPECT_EQ(sink->health().replays_dropped + sink->health().timings_dropped, 0U);
  }
  EXPECT_EQ(query("SELECT count(*) FROM replays; SELECT n FROM node_stats LIMIT 1"),
            "12000\n12000");
  EXPECT_EQ(query("SELECT min(replay_id), max(replay_id) FROM step_timings"), "1|12000");
  EXPECT_EQ(query("SELECT DISTINCT code FROM events"), "timings_thinned");
  EXPECT_LE(pages[0] * 8192, std::int64_t{5} * kBudget);
  // 6,000 headers of about 60 bytes, and as much again for their index.
  EXPECT_LE((pages[1] - pages[0]) * 8192, std::int64_t{120} * kReplays);
}

}  // namespace
}  // namespace reprise
