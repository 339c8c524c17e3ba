// The tables for people against what was sent, and files that are hostile.
#include <numeric>

#include "framework/profile/profile_reader.h"
#include "tests/profile/sql.h"
#include "tests/profile/timed_replays.h"
#include "tests/testing.h"

namespace reprise {
namespace {

using test::GraphMaker;
using test::GraphOptions;
using test::nanosecond_device;
using test::run_info;
using test::send_recording;
using test::sql;
using test::TempFolder;
using test::TimedReplay;

class ProfileTables : public ::testing::Test {
 protected:
  /// A run whose node `slowest` of graph `name` takes 4,000 ns, and all others 1,000 per step.
  void write_run(const std::string& name, std::size_t slowest, std::uint64_t replays,
                 TimingMode mode = TimingMode::node) {
    GraphOptions options;
    options.name = name;
    options.scales = 1;
    const auto graph = GraphMaker(options).make();
    const auto sink = open_profile(path_, run_info("test", name));
    sink->device(nanosecond_device());
    sink->send(TimestampBiasRecord{400});
    const std::uint64_t recording = send_recording(*sink, graph);
    std::vector<std::uint64_t> step_ns(graph->steps.size(), 1000);
    step_ns[slowest] = 4000;
    for (std::uint64_t r = 0; r < replays; ++r) {
      TimedReplay replay(recording, r, step_ns);
      replay.record.timing_mode = mode;
      replay.record.warm_up = r == 0;
      if (mode == TimingMode::off) {
        replay.record.step_ticks = {};
      }
      sink->replay(replay.record);
    }
  }
  TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "profile.db";
};

TEST_F(ProfileTables, TopNodesAreThoseOfTheLastRunWithNodeTimes) {
  write_run("first", 0, 50);
  write_run("second", 1, 11);
  write_run("third", 2, 5, TimingMode::off);
  const TopNodes top = read_top_nodes(path_, {});
  EXPECT_EQ(top.run, 2);
  EXPECT_EQ(top.timestamp_bias_ns, 400U);
  ASSERT_EQ(top.nodes.size(), 4U);
  const NodeTimes& slowest = top.nodes[0];
  EXPECT_EQ(slowest.node.graph_name, "second");
  EXPECT_EQ(slowest.node.index, 1);
  EXPECT_EQ(slowest.node.op, "add");
  EXPECT_EQ(slowest.node.scope, "layer.3");
  EXPECT_EQ(slowest.node.kernels, "add");
  EXPECT_EQ(slowest.node.source, "model.cpp:11");
  EXPECT_EQ(slowest.node.bytes, 2304U);
  EXPECT_EQ(slowest.node.flops, 7U);
  EXPECT_EQ(slowest.phase, "second");
  EXPECT_EQ(slowest.timing_mode, "node");
  EXPECT_EQ(slowest.replays, 10U);
  EXPECT_EQ(slowest.total_ns, 40'000U);
  EXPECT_EQ(slowest.p50_ns, 4000U);
  EXPECT_EQ(slowest.p95_ns, 4000U);
  EXPECT_FALSE(slowest.below_bias);
  EXPECT_DOUBLE_EQ(slowest.share, 0.5);   // 4,000 of 1,000 + 4,000 + 2 x 1,000 + 1,000
  EXPECT_EQ(top.nodes[1].node.index, 2);  // two steps
  EXPECT_EQ(top.nodes[1].node.steps, 2U);
  EXPECT_EQ(top.nodes[1].total_ns, 20'000U);
  EXPECT_TRUE(top.nodes[2].below_bias);
}

TEST_F(ProfileTables, TopNodesCanBeOfOneGraphOrPhaseInEitherOrder) {
  write_run("first", 0, 50);
  write_run("second", 1, 11);
  TopNodesQuery query;
  query.graph = 1;
  query.order = NodeOrder::p50;
  query.limit = 2;
  const TopNodes of_graph = read_top_nodes(path_, query);
  EXPECT_EQ(of_graph.run, 1);
  ASSERT_EQ(of_graph.nodes.size(), 2U);
  EXPECT_EQ(of_graph.nodes[0].node.index, 0);
  EXPECT_DOUBLE_EQ(of_graph.nodes[0].share, 0.5);
  TopNodesQuery phase;
  phase.phase = "first";
  EXPECT_TRUE(read_top_nodes(path_, phase).nodes.empty());  // not of the last run
  phase.phase = "second";
  EXPECT_EQ(read_top_nodes(path_, phase).nodes.size(), 4U);
  query.graph = 7;
  testing::expect_error(ErrorCode::invalid_argument, {"graph (7)", "it has 1, 2"},
                        [&] { read_top_nodes(path_, query); });
  testing::expect_error(ErrorCode::invalid_argument, {"graph (-1)"},
                        [&] { read_nodes(path_, -1); });
}

TEST_F(ProfileTables, SharesAreOfOneTimingMode) {
  write_run("first", 0, 3);
  sql(path_,
      "CREATE TEMP TABLE other AS SELECT * FROM node_stats; UPDATE other SET timing_mode=3; "
      "INSERT INTO node_stats SELECT * FROM other");
  const TopNodes top = read_top_nodes(path_, {});
  ASSERT_EQ(top.nodes.size(), 8U);
  EXPECT_EQ(top.nodes[0].timing_mode, "node");
  EXPECT_EQ(top.nodes[1].timing_mode, "node serialised");
  EXPECT_DOUBLE_EQ(top.nodes[0].share, 0.5);
  EXPECT_DOUBLE_EQ(top.nodes[1].share, 0.5);
}

TEST_F(ProfileTables, NodesAreThoseOfTheLastRunOrOfAGraph) {
  write_run("first", 0, 1);
  write_run("second", 0, 1);
  const std::vector<NodeSummary> last = read_nodes(path_, {});
  ASSERT_EQ(last.size(), 4U);
  EXPECT_EQ(last[3].graph, 2);
  EXPECT_EQ(last[3].op, "norm");
  EXPECT_EQ(last[3].source, "model.cpp:12");
  EXPECT_EQ(read_nodes(path_, 1).at(0).graph_name, "first");
}

TEST_F(ProfileTables, ReplaysBeginWithTheLatest) {
  write_run("first", 0, 3);
  const std::vector<ReplaySummary> replays = read_replays(path_, 2);
  ASSERT_EQ(replays.size(), 2U);
  EXPECT_EQ(replays[0].sequence, 2U);
  EXPECT_EQ(replays[0].graph_name, "first");
  EXPECT_EQ(replays[0].timing_mode, "node");
  EXPECT_EQ(replays[0].device_ns, 8000U);
  EXPECT_TRUE(replays[0].has_step_times);
  EXPECT_FALSE(replays[0].warm_up);
  EXPECT_TRUE(read_replays(path_, 3)[2].warm_up);
}

TEST_F(ProfileTables, PassDecisionsAreThoseOfTheLastRunOrOfAGraph) {
  write_run("first", 0, 1);
  write_run("second", 0, 1);
  ASSERT_EQ(sql(path_,
                "INSERT INTO pass_decisions VALUES(1,'in_place',0,'shared',0,1,'not read again',"
                "NULL),(2,'reorder',0,'order',NULL,1,'by memory',-5),"
                "(2,'in_place',1,'shared',99,0,'no such node',NULL),"
                "(2,'in_place',0,'shared',1,0,'read later',1500)"),
            "");
  const std::vector<PassDecisionSummary> last = read_pass_decisions(path_, {});
  ASSERT_EQ(last.size(), 3U);
  EXPECT_EQ(last[0].graph, 2);
  EXPECT_EQ(last[0].graph_name, "second");
  EXPECT_EQ(last[0].pass, "in_place");
  EXPECT_EQ(last[0].kind, "shared");
  EXPECT_EQ(last[0].node, 1);
  EXPECT_EQ(last[0].op, "add");
  EXPECT_EQ(last[0].scope, "layer.3");
  EXPECT_FALSE(last[0].applied);
  EXPECT_EQ(last[0].reason, "read later");
  EXPECT_EQ(last[0].estimate_ns, 1500);
  EXPECT_EQ(last[1].node, 99);
  EXPECT_EQ(last[1].op, "");
  EXPECT_EQ(last[1].estimate_ns, std::nullopt);
  EXPECT_EQ(last[2].node, std::nullopt);
  EXPECT_TRUE(last[2].applied);
  EXPECT_EQ(last[2].estimate_ns, -5);
  const std::vector<PassDecisionSummary> first = read_pass_decisions(path_, 1);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].reason, "not read again");
  testing::expect_error(ErrorCode::invalid_argument, {"graph (7)", "it has 1, 2"},
                        [&] { read_pass_decisions(path_, 7); });
}

TEST_F(ProfileTables, AreEmptyWithoutNodeTimes) {
  write_run("plain", 0, 3, TimingMode::off);
  EXPECT_EQ(read_top_nodes(path_, {}).run, std::nullopt);
  EXPECT_TRUE(read_top_nodes(path_, {}).nodes.empty());
  EXPECT_FALSE(read_replays(path_, 10).empty());
}

TEST_F(ProfileTables, SurviveNumbersAndTablesNobodyWouldWrite) {
  write_run("plain", 0, 3);
  sql(path_,
      "UPDATE node_stats SET n=0, sum_ns=-5, p50_ns=9223372036854775807, timing_mode=99, "
      "below_bias='x'; UPDATE nodes SET flops=-1, read_bytes=9223372036854775807, src_line='y'; "
      "UPDATE replays SET device_ns='text', timing_mode=-3, seq=-1; UPDATE writer_health SET "
      "timestamp_bias_ns=-9");
  const TopNodes top = read_top_nodes(path_, {});
  ASSERT_EQ(top.nodes.size(), 4U);
  EXPECT_EQ(top.timestamp_bias_ns, std::nullopt);
  EXPECT_EQ(top.nodes[0].timing_mode, "unknown (99)");
  EXPECT_EQ(top.nodes[0].total_ns, 0U);
  EXPECT_EQ(top.nodes[0].node.flops, 0U);
  EXPECT_EQ(read_replays(path_, 1)[0].timing_mode, "unknown (-3)");
  EXPECT_EQ(read_nodes(path_, {}).size(), 4U);
  sql(path_,
      "DROP TABLE step_timings; CREATE VIEW step_timings AS WITH RECURSIVE r(n) AS (SELECT 1 UNION "
      "ALL SELECT n+1 FROM r) SELECT n AS replay_id FROM r");
  testing::expect_error(ErrorCode::io, {"(step_timings) is missing"},
                        [&] { read_replays(path_, 1); });
  testing::expect_error(ErrorCode::io, {"absent"}, [&] { read_nodes(folder_ / "absent", {}); });
}

}  // namespace
}  // namespace reprise
