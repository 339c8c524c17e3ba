#include "debugger/model/group_statistics.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "tests/seed.h"

namespace reprise::debugger {
namespace {

using ::testing::ElementsAre;

constexpr std::uint64_t kNone = ReplayTimes::kNone;

Capture four_nodes() {
  Capture capture;
  capture.nodes.resize(4);
  const char* const ops[] = {"matmul", "add", "matmul", "matmul"};
  const char* const scopes[] = {"a", "a", "b", ""};
  for (std::size_t n = 0; n < 4; ++n) {
    capture.nodes[n].op = ops[n];
    capture.nodes[n].scope = scopes[n];
    capture.nodes[n].family = n == 1 ? "elementwise" : "product";
  }
  capture.nodes[0].read_bytes = 100;
  capture.nodes[0].write_bytes = 28;
  capture.nodes[2].flops = 1000;
  capture.nodes[3].flops = std::numeric_limits<std::uint64_t>::max();
  return capture;
}

ReplayTimes times_of(std::size_t nodes, std::vector<std::uint64_t> ns) {
  return {.nodes = nodes, .replays = ns.size() / nodes, .asked = ns.size() / nodes, .ns = ns};
}

TEST(NodeGroups, HaveTheirNodesInRecordedOrderAndWhatTheyRead) {
  const auto by_op = node_groups(four_nodes(), GroupBy::op);
  EXPECT_THAT(
      by_op,
      ElementsAre(
          NodeGroup{"matmul", "product", {0, 2, 3}, 128, std::numeric_limits<std::uint64_t>::max()},
          NodeGroup{"add", "elementwise", {1}, {}, {}}));
  const auto by_scope = node_groups(four_nodes(), GroupBy::scope);
  EXPECT_THAT(
      by_scope,
      ElementsAre(NodeGroup{"a", "", {0, 1}, 128, {}}, NodeGroup{"b", "product", {2}, {}, 1000},
                  NodeGroup{"", "product", {3}, {}, std::numeric_limits<std::uint64_t>::max()}));
  EXPECT_EQ(node_groups(four_nodes(), GroupBy::kernel).size(), 1U);
}

TEST(GroupTimes, AreSumsOfTheNodesOfEachReplay) {
  const auto groups = node_groups(four_nodes(), GroupBy::op);
  const auto found = group_times(
      groups, times_of(4, {10, 5, 20, 30, 11, kNone, 21, kNone, kNone, kNone, kNone, kNone}));
  EXPECT_THAT(found[0].ns, ::testing::UnorderedElementsAre(60, 32));
  EXPECT_THAT(found[1].ns, ElementsAre(5));
  EXPECT_EQ(found[0].p50_ns, 32U);
  EXPECT_DOUBLE_EQ(found[0].share, 32.0 / 37.0);
  EXPECT_EQ(found[1].variation, 0);
}

/// Beside definitions that look at one value after the other.
TEST(GroupTimes, AgreeWithTheirDefinitions) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937_64 random(seed);
  const std::size_t replays = 1 + random() % 300;
  std::vector<std::uint64_t> ns(replays);
  std::generate(ns.begin(), ns.end(), [&] { return 1 + random() % 1000; });
  Capture capture;
  capture.nodes.resize(1);
  const GroupTimes found = group_times(node_groups(capture, GroupBy::op), times_of(1, ns)).front();
  std::vector<std::uint64_t> sorted = ns;
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&](std::uint64_t percent) { return sorted[(percent * replays + 99) / 100 - 1]; };
  EXPECT_EQ(found.p50_ns, at(50));
  EXPECT_EQ(found.p95_ns, at(95));
  EXPECT_EQ(found.p99_ns, at(99));
  double mean = 0, squares = 0;
  for (const std::uint64_t value : ns) {
    mean += static_cast<double>(value) / static_cast<double>(replays);
  }
  for (const std::uint64_t value : ns) {
    squares += std::pow(static_cast<double>(value) - mean, 2);
  }
  const double deviation = replays < 2 ? 0 : std::sqrt(squares / static_cast<double>(replays - 1));
  EXPECT_NEAR(found.variation, deviation / mean, 1e-9);
}

TEST(GroupTimes, OfTimesThatCannotBeStayNumbers) {
  Capture capture;
  capture.nodes.resize(2);
  const auto found =
      group_times(node_groups(capture, GroupBy::op), times_of(2, {kNone - 1, kNone - 1, 0, 0}));
  EXPECT_EQ(found[0].p95_ns, std::numeric_limits<std::uint64_t>::max());
  EXPECT_TRUE(std::isfinite(found[0].variation));
  EXPECT_EQ(group_times(node_groups(capture, GroupBy::op), {})[0].ns.size(), 0U);
}

TEST(GroupTimes, RatesAreThoseOfTheMedian) {
  GroupTimes times;
  times.p50_ns = 500;
  EXPECT_EQ(rate_of(1000, times), 2e9);
  EXPECT_EQ(rate_of({}, times), std::nullopt);
  EXPECT_EQ(rate_of(0, times), std::nullopt);
  EXPECT_EQ(rate_of(1000, {}), std::nullopt);
}

GroupTimes around(std::uint64_t middle, std::size_t count) {
  GroupTimes times;
  for (std::size_t i = 0; i < count; ++i) {
    times.ns.push_back(middle + i);
  }
  times.p50_ns = middle + count / 2;
  return times;
}

TEST(GroupChange, SaysHowMuchAndHowSure) {
  const auto slower = change_of(around(1000, 40), around(1100, 40));
  EXPECT_TRUE(slower->significant());
  EXPECT_EQ(change_text(*slower), "+9.80 %");
  EXPECT_EQ(probability_text(*slower), "< 0.001");
  const auto same = change_of(around(1000, 40), around(1000, 40));
  EXPECT_FALSE(same->significant());
  EXPECT_EQ(change_text(*same), "0.00 %");
  EXPECT_EQ(probability_text(*same), "1.000");
  const auto faster = change_of(around(1000, 40), around(900, 40));
  EXPECT_EQ(change_text(*faster), "-9.80 %");
}

TEST(GroupChange, OfAFewTimesIsNotCalledSure) {
  const auto change = change_of(around(1000, 19), around(9000, 40));
  EXPECT_FALSE(change->significant());
  EXPECT_EQ(probability_text(*change), "too few");
  EXPECT_FALSE(change_of(around(1000, 40), {}));
}

}  // namespace
}  // namespace reprise::debugger
