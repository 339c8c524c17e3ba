#include "debugger/model/node_sums.h"

#include <gtest/gtest.h>

namespace reprise::debugger {
namespace {

TEST(NodeSums, AreOfTheNodesAskedAndNameTheSlowestThatWereTimed) {
  Capture capture;
  capture.nodes.resize(6);
  CaptureStatistics statistics;
  for (const std::uint64_t median : {900U, 20U, 50U, 0U, 50U, 800U}) {
    capture.nodes[statistics.nodes.size()].flops = median * 2;
    capture.nodes[statistics.nodes.size()].read_bytes = median * 3;
    NodeTiming timing;
    timing.total_ns = 1000 - median;
    timing.p50_ns = median;
    statistics.nodes.push_back(median == 0 ? std::nullopt : std::optional(timing));
  }
  const NodeSums sums = sums_of(capture, statistics, {1, 4}, 2);
  EXPECT_EQ(sums.p50_ns, 120U);
  EXPECT_EQ(sums.flops, 240U);
  EXPECT_EQ(sums.bytes, 360U);
  EXPECT_EQ(sums.slowest, (std::vector<std::uint32_t>{2, 4}));  // of equals the first
  EXPECT_EQ(sums_of(capture, statistics, {1, 4}, 9).slowest, (std::vector<std::uint32_t>{2, 4, 1}));
  EXPECT_EQ(sums_of(capture, {}, {1, 4}, 9).bytes, 360U);  // nothing was timed
}

}  // namespace
}  // namespace reprise::debugger
