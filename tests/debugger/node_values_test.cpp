#include "debugger/model/node_values.h"

#include <cmath>
#include <gmock/gmock.h>
#include <limits>

#include <gtest/gtest.h>

#include "tests/debugger/panel_window.h"
#include "tests/profile/sql.h"

namespace reprise::debugger {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;
using ::testing::Pair;

constexpr CaptureId kDecode{.run = 2, .graph = 2};

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

TEST(NodeValues, ErrorsAreComparedByDecades) {
  GreatestErrors errors{{}, {{0, 1e-4}, {1, std::numeric_limits<double>::infinity()}}};
  const NodeValues values = node_values(ColourBy::error, two_nodes(), {}, &errors);
  EXPECT_DOUBLE_EQ(values.heat_of(*values.of(0, 1), 1), 0.5);
  EXPECT_EQ(values.heat_of(0, 1), 0);
  EXPECT_EQ(values.heat_of(*values.of(1, 1), 1), 1);
  EXPECT_EQ(values.text(*values.of(1, 1)), "not finite");
}

TEST(NodeValues, SayWhatIsMissing) {
  const GreatestErrors none;
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

TEST(GreatestErrors, AreTheGreatestOfTheRun) {
  const SampleDatabase database;
  ASSERT_EQ(test::sql(database.path(),
                      "INSERT INTO comparisons(run_id,t_ns,graph_id,recording_id,node_idx,"
                      "reference,max_rel,tolerance,pass) VALUES (2,0,2,2,5,'direct',0.25,1,1),"
                      "(2,0,2,2,5,'cpu',0.5,1,1),(2,0,2,2,6,'cpu',NULL,1,0),"
                      "(2,0,2,2,7,'cpu',NULL,1,1),(2,0,2,2,91,'cpu',1,1,0),"
                      "(2,0,2,2,-1,'cpu',1,1,0),(1,0,2,1,8,'cpu',9,1,0)"),
            "");
  const GreatestErrors errors =
      read_greatest_errors(database.path(), read_capture(database.path(), kDecode));
  EXPECT_EQ(errors.capture, kDecode);
  EXPECT_THAT(
      errors.relative,
      ElementsAre(Pair(5, 0.5), Pair(6, std::numeric_limits<double>::infinity()), Pair(7, 0.0)));
}

}  // namespace
}  // namespace reprise::debugger
