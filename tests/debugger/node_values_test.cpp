#include "debugger/model/node_values.h"

#include <cmath>
#include <gmock/gmock.h>
#include <limits>

#include <gtest/gtest.h>

namespace reprise::debugger {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

Capture two_nodes() {
  Capture capture;
  capture.nodes.resize(2);
  capture.tensors.resize(3);
  capture.tensors[1].bytes = 100;
  capture.tensors[2].bytes = 24;
  capture.operands = {{"x", 0, true, false}, {"y", 1, false, true}, {"z", 2, true, true}};
  capture.nodes[0].operands = {0, 2};
  capture.nodes[1].operands = {2, 1};
  return capture;
}

TEST(NodeValues, MemoryIsWhatANodeWritesAndAddsUp) {
  const NodeValues values = node_values(ColourBy::memory, two_nodes(), {}, nullptr);
  EXPECT_TRUE(values.known());
  EXPECT_THAT(values.of(0, 1), Optional(100.0));
  EXPECT_THAT(values.of(0, 2), Optional(124.0));
  EXPECT_EQ(values.text(*values.of(0, 1)), "100 B");
  EXPECT_EQ(values.heat_of(62, 124), 0.5);
}

TEST(NodeValues, AScopeVariesAsItsMostVaryingNode) {
  CaptureStatistics statistics;
  NodeTiming calm, wild;
  calm.mean_ns = wild.mean_ns = 100;
  calm.stddev_ns = 1;
  wild.stddev_ns = 50;
  statistics.nodes = {calm, wild};
  const NodeValues values = node_values(ColourBy::variance, two_nodes(), statistics, nullptr);
  EXPECT_THAT(values.of(0, 2), Optional(0.5));
  statistics.nodes[1]->mean_ns = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(node_values(ColourBy::variance, two_nodes(), statistics, nullptr).of(0, 2),
              Optional(0.01));
}

TEST(NodeValues, OnlyNodesOfTheCriticalPathHaveOne) {
  CaptureStatistics statistics;
  NodeTiming timing;
  timing.p50_ns = 1000;
  statistics.nodes = {std::nullopt, timing};
  const NodeValues values = node_values(ColourBy::critical_path, two_nodes(), statistics, nullptr);
  EXPECT_EQ(values.of(0, 1), std::nullopt);
  EXPECT_THAT(values.of(1, 1), Optional(1000.0));
  EXPECT_EQ(values.note, "1 nodes, 1.00 \xC2\xB5s of 1.00 \xC2\xB5s");
}

TEST(NodeValues, ErrorsAreTheGreatestOfANodeAndComparedByDecades) {
  const auto error = [](std::uint32_t node, std::optional<double> relative, bool differs) {
    NodeError row;
    row.node = node;
    row.max_rel = relative;
    row.differs = differs;
    return row;
  };
  NodeErrors errors;
  errors.rows = {error(0, 1e-4, true), error(0, 1e-6, false), error(1, 0.5, true),
                 error(1, std::nullopt, true), error(2, 1, true)};
  const NodeValues values = node_values(ColourBy::error, two_nodes(), {}, &errors);
  EXPECT_DOUBLE_EQ(values.heat_of(*values.of(0, 1), 1), 0.5);
  EXPECT_EQ(values.heat_of(0, 1), 0);
  EXPECT_EQ(values.heat_of(*values.of(1, 1), 1), 1);
  EXPECT_EQ(values.text(*values.of(1, 1)), "not finite");
}

TEST(NodeValues, SayWhatIsMissing) {
  const NodeErrors none;
  EXPECT_THAT(node_values(ColourBy::error, two_nodes(), {}, &none).missing, HasSubstr("verify()"));
  EXPECT_THAT(node_values(ColourBy::variance, two_nodes(), {}, nullptr).missing,
              HasSubstr("TimingMode::node"));
  EXPECT_THAT(node_values(ColourBy::critical_path, two_nodes(), {}, nullptr).missing,
              HasSubstr("TimingMode::node"));
}

TEST(NodeValues, TheNextColouringComesRoundAgain) {
  ColourBy by = ColourBy::time;
  std::string names;
  for (std::size_t i = 0; i < kColourings; ++i) {
    names += std::string(name_of(by)) + " ";
    by = after(by);
  }
  EXPECT_EQ(names, "time op error memory variance critical path ");
  EXPECT_EQ(by, ColourBy::time);
}

}  // namespace
}  // namespace reprise::debugger
