#include "debugger/model/statistics.h"

#include <gtest/gtest.h>

namespace reprise::debugger {
namespace {

TEST(Statistics, QuantilesAreValuesOfTheSet) {
  std::vector<std::uint64_t> values{50, 10, 40, 20, 30};
  EXPECT_EQ(quantile(values, 0), 10U);
  EXPECT_EQ(quantile(values, 0.2), 10U);
  EXPECT_EQ(quantile(values, 0.21), 20U);
  EXPECT_EQ(quantile(values, 0.5), 30U);
  EXPECT_EQ(quantile(values, 0.95), 50U);
  EXPECT_EQ(quantile(values, 1), 50U);
  values.clear();
  EXPECT_EQ(quantile(values, 0.5), 0U);
}

TEST(Statistics, NodesAreThoseOfTheirDurations) {
  const std::vector<std::vector<std::uint64_t>> durations{{1, 2, 3, 6}, {}, {100}};
  const CaptureStatistics s = statistics_of(durations, 1);
  ASSERT_EQ(s.nodes.size(), 3U);
  EXPECT_EQ(s.nodes[0]->count, 4U);
  EXPECT_EQ(s.nodes[0]->total_ns, 12U);
  EXPECT_EQ(s.nodes[0]->min_ns, 1U);
  EXPECT_EQ(s.nodes[0]->max_ns, 6U);
  EXPECT_EQ(s.nodes[0]->p50_ns, 2U);
  EXPECT_EQ(s.nodes[0]->p95_ns, 6U);
  EXPECT_DOUBLE_EQ(s.nodes[0]->mean_ns, 3);
  EXPECT_NEAR(s.nodes[0]->stddev_ns, 2.160246899, 1e-9);
  EXPECT_TRUE(s.nodes[0]->below_bias);  // two of four are below three times the bias
  EXPECT_EQ(s.nodes[1], std::nullopt);
  EXPECT_EQ(s.nodes[2]->stddev_ns, 0);
  EXPECT_FALSE(s.nodes[2]->below_bias);
  EXPECT_EQ(s.p50_sum_ns, 102U);
  EXPECT_EQ(s.max_p50_ns, 100U);
  EXPECT_EQ(s.replays, 4U);
}

TEST(Statistics, SayOfWhichReplaysTheyAre) {
  CaptureStatistics s;
  s.replays = 63;
  s.in_range = {.all = 66, .warm_ups = 3, .failed = 0};
  EXPECT_EQ(replays_text(s), "63 of 66 replays; left out: 3 warm-ups");
  s.in_range = {.all = 70, .warm_ups = 1, .failed = 1};
  EXPECT_EQ(replays_text(s),
            "63 of 70 replays; left out: 1 warm-up, 1 failed, 5 without such times");
  s.in_range = {.all = 63, .warm_ups = 0, .failed = 0};
  EXPECT_EQ(replays_text(s), "63 replays");
}

TEST(Statistics, ReplaysThatFailedOrWarmUpAreNotInTheQuantiles) {
  ReplayTable table;
  const auto add = [&](std::optional<std::uint64_t> ns, bool warm_up, std::uint32_t status) {
    ReplayRow row;
    row.device_ns = ns;
    row.warm_up = warm_up;
    row.status = status;
    table.rows.push_back(row);
  };
  add(900, true, 0);
  add(100, false, 0);
  add(800, false, 2);
  add({}, false, 0);
  add(200, false, 0);
  const ReplayStatistics all = replay_statistics(table, {});
  EXPECT_EQ(all.count, 5U);
  EXPECT_EQ(all.failed, 1U);
  EXPECT_EQ(all.p50_ns, 100U);
  EXPECT_EQ(all.p95_ns, 200U);
  EXPECT_EQ(all.max_ns, 200U);
  const ReplayStatistics some = replay_statistics(table, ReplayRange{2, 3});
  EXPECT_EQ(some.count, 2U);
  EXPECT_EQ(some.p50_ns, std::nullopt);
  EXPECT_EQ(replay_statistics(table, ReplayRange{4, 999}).count, 1U);
  EXPECT_EQ(replay_statistics({}, {}).count, 0U);
}

TEST(Statistics, ReplaysWithoutDeviceTimesTookWhatTheHostSpent) {
  ReplayTable table;
  table.rows.resize(2);
  table.rows[0].submit_ns = 30;
  table.rows[0].wait_ns = 4;
  table.rows[1].submit_ns = 1;
  const ReplayStatistics statistics = replay_statistics(table, {});
  EXPECT_EQ(statistics.p50_ns, 1U);
  EXPECT_EQ(statistics.max_ns, 34U);
}

TEST(Statistics, OfAGrowingTableWaitForMoreThanNobodyWouldSee) {
  EXPECT_FALSE(outgrown(1'000'000, 1'000'000, true));
  EXPECT_FALSE(outgrown(1'000'000, 1'003'000, true));
  EXPECT_TRUE(outgrown(1'000'000, 1'004'000, true));
  EXPECT_TRUE(outgrown(100, 101, true));
  EXPECT_TRUE(outgrown(1'000'000, 7, true));  // of another capture
  EXPECT_TRUE(outgrown(1'000'000, 1'000'001, false));
}

}  // namespace
}  // namespace reprise::debugger
