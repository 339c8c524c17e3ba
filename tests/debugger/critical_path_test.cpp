#include "debugger/model/critical_path.h"

#include <algorithm>
#include <functional>
#include <gmock/gmock.h>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "tests/seed.h"

namespace reprise::debugger {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Graph {
  Capture capture;
  CaptureStatistics statistics;
};

Graph graph(const std::vector<std::uint64_t>& medians,
            const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges) {
  Graph made;
  made.capture.nodes.resize(medians.size());
  for (const std::uint64_t median : medians) {
    NodeTiming timing;
    timing.p50_ns = median;
    made.statistics.nodes.emplace_back(timing);
  }
  for (const auto& [src, dst] : edges) {
    made.capture.edges.push_back({src, dst, 0, "RAW"});
  }
  return made;
}

TEST(CriticalPath, IsTheChainThatTakesLongest) {
  const Graph made = graph({1, 5, 2, 3, 9}, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  const CriticalPath path = critical_path(made.capture, made.statistics);
  EXPECT_THAT(path.nodes, ElementsAre(0, 1, 3));  // 9 ns, as long as node 4 alone
  EXPECT_EQ(path.length_ns, 9U);
  EXPECT_EQ(path.all_ns, 20U);
}

TEST(CriticalPath, WithoutTimesThereIsNone) {
  Graph made = graph({1, 2}, {{0, 1}});
  EXPECT_THAT(critical_path(made.capture, {}).nodes, IsEmpty());
  made.statistics.nodes.assign(2, std::nullopt);
  EXPECT_THAT(critical_path(made.capture, made.statistics).nodes, IsEmpty());
}

TEST(CriticalPath, OfTimesThatDoNotFitEnds) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const Graph made = graph({kMost, kMost, 7}, {{0, 1}, {1, 2}});
  const CriticalPath path = critical_path(made.capture, made.statistics);
  EXPECT_EQ(path.length_ns, kMost);
  EXPECT_EQ(path.all_ns, kMost);
}

/// Against a search of all chains.
TEST(CriticalPath, IsAsLongAsTheLongestOfAllChains) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 50; ++round) {
    const auto count = static_cast<std::uint32_t>(1 + random() % 10);
    std::vector<std::uint64_t> medians;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    for (std::uint32_t dst = 0; dst < count; ++dst) {
      medians.push_back(random() % 20);
      for (std::uint32_t src = 0; src < dst; ++src) {
        if (random() % 3 == 0) {
          edges.emplace_back(src, dst);
        }
      }
    }
    const std::function<std::uint64_t(std::uint32_t)> longest = [&](std::uint32_t node) {
      std::uint64_t before = 0;
      for (const auto& [src, dst] : edges) {
        before = dst == node ? std::max(before, longest(src)) : before;
      }
      return before + medians[node];
    };
    std::uint64_t expected = 0;
    for (std::uint32_t node = 0; node < count; ++node) {
      expected = std::max(expected, longest(node));
    }
    const Graph made = graph(medians, edges);
    const CriticalPath path = critical_path(made.capture, made.statistics);
    EXPECT_EQ(path.length_ns, expected);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < path.nodes.size(); ++i) {
      sum += medians[path.nodes[i]];
      EXPECT_TRUE(i == 0 || std::count(edges.begin(), edges.end(),
                                       std::pair(path.nodes[i - 1], path.nodes[i])) == 1);
    }
    EXPECT_EQ(sum, expected);
  }
}

}  // namespace
}  // namespace reprise::debugger
