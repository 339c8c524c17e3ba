// Paths, all under inspector/all: title, level, histogram, time/count, mean, extremes, share,
// bytes and flops, scope/<item>, source, line/<line>, attribute/<name>, operand/<i>/name, type,
// tensor, place, from/<node> and to/<node>, step/<i>/kernel, grid, local and push,
// barrier/<i>/kind and reason, slowest/node/<node>, state/<field>.
#include "debugger/views/inspector_panel.h"

#include <fstream>

#include "debugger/model/format.h"
#include "tests/debugger/panel_window.h"
#include "tests/debugger/recorded_database.h"
#include "tests/seed.h"

namespace reprise::debugger {
namespace {

using ::testing::HasSubstr;

class InspectorPanelTest : public PanelTest<InspectorPanel> {
 protected:
  InspectorPanelTest() : PanelTest({.width = 380, .height = 1600}) {}
  std::string text(const std::string& path) { return window_.text("inspector/all/" + path); }
  void select(std::uint32_t node) {
    window_.workspace().select_node(node);
    run("wait");
  }
};

TEST_F(InspectorPanelTest, WithNothingSelectedItShowsTheCapture) {
  EXPECT_EQ(text("title"), "decode");
  EXPECT_EQ(text("nodes"), "91");
  EXPECT_EQ(text("barriers"), "65");
  EXPECT_EQ(text("replays"), "59, 59 with step times");
  EXPECT_EQ(text("unshared"), "29.0 KiB");
  EXPECT_EQ(text("state/kv_len"), "i32  derived = pos + rows");
}

TEST_F(InspectorPanelTest, CountsTheReplaysThatTheFileHasByNow) {
  ASSERT_EQ(test::sql(database_.path(),
                      "CREATE TEMP TABLE other AS SELECT * FROM replays ORDER BY id DESC LIMIT 1; "
                      "UPDATE other SET id=id+1, seq=seq+1; INSERT INTO replays SELECT * FROM "
                      "other; INSERT INTO step_timings SELECT replay_id+1, codec, unit_ns, data "
                      "FROM step_timings ORDER BY replay_id DESC LIMIT 1"),
            "");
  run("wait");
  EXPECT_EQ(text("replays"), "60, 60 with step times");
  EXPECT_EQ(text("times"), "58 of 60 replays; left out: 1 warm-up, 1 without such times");
}

TEST_F(InspectorPanelTest, ShowsWhatIsKnownOfANode) {
  select(10);
  EXPECT_EQ(text("title"), "#10 attention");
  EXPECT_EQ(text("level"), "6");
  EXPECT_EQ(text("source"), "forward.cpp:39 in attention_block");
  EXPECT_EQ(text("attribute/causal"), "true");
  EXPECT_EQ(text("attribute/kv_len"), "state: kv_len");
  EXPECT_EQ(text("operand/0/name"), "q");
  EXPECT_EQ(text("operand/0/type"), "f32 [1,8,8]");
  EXPECT_EQ(text("operand/3/place"), "256 B  activation  arena +512");
  EXPECT_EQ(text("step/10/kernel"), "attention.f32");
  EXPECT_EQ(text("step/10/local"), "8 x 1 x 1");
}

TEST_F(InspectorPanelTest, AStepOfTheHostHasNoGroups) {
  ASSERT_EQ(test::sql(database_.path(),
                      "UPDATE steps SET grid_x = 0, grid_y = 0, grid_z = 0, grid_expr = NULL; "
                      "UPDATE kernels SET local_x = 0, local_y = 0, local_z = 0"),
            "");
  PanelWindow window(database_.path(), std::make_unique<InspectorPanel>(),
                     {.width = 380, .height = 1600});
  window.workspace().select_node(10);
  window.run(
      "wait\nexpect inspector/all/step/10/kernel attention.f32\n"
      "absent inspector/all/step/10/grid\nabsent inspector/all/step/10/local");
}

TEST_F(InspectorPanelTest, SlowestNodesAreInTheOrderOfTheTimeTheyShow) {
  ASSERT_EQ(test::sql(database_.path(), "UPDATE node_stats SET sum_ns = 1 + 1000000 / p50_ns"), "");
  PanelWindow window(database_.path(), std::make_unique<InspectorPanel>(),
                     {.width = 380, .height = 1600});
  const auto& statistics = window.document().statistics();
  const NodeSums sums = sums_of(*window.document().capture(), statistics, {0, 91}, 1);
  EXPECT_EQ(statistics.nodes[sums.slowest.front()]->p50_ns, statistics.max_p50_ns);
}

TEST_F(InspectorPanelTest, ShowsTheTimesOfTheRange) {
  select(10);
  EXPECT_EQ(text("time/count"), "58");
  EXPECT_NE(text("histogram"), "(absent)");
  window_.workspace().document.set_range(ReplayRange{10, 19});
  run("wait");
  EXPECT_EQ(text("time/count"), "10");
}

TEST_F(InspectorPanelTest, MarksTheLineOfTheCall) {
  select(10);
  EXPECT_THAT(text("line/39"), HasSubstr("attention("));
  EXPECT_NE(text("line/35"), "(absent)");
  EXPECT_EQ(text("line/34"), "(absent)");
}

TEST(InspectorSource, OutsideOfTheSourceFoldersIsAQuestion) {
  const SampleDatabase database;
  const test::TempFolder elsewhere;
  const std::string secret = elsewhere / "secret";
  std::ofstream(secret) << "first\nsecond\n";
  ASSERT_EQ(
      test::sql(database.path(), "UPDATE nodes SET src_file = '" + secret + "', src_line = 2"), "");
  PanelWindow window(database.path(), std::make_unique<InspectorPanel>(),
                     {.width = 380, .height = 1600});
  window.workspace().select_node(10);
  window.run("wait\nabsent inspector/all/line/2\nfits");
  EXPECT_THAT(window.text("inspector/all/source-outside"), HasSubstr("(" + secret + ")"));
  window.run(
      "click inspector/all/source-allow\nexpect inspector/all/line/2 second\n"
      "absent inspector/all/source-allow");
}

TEST_F(InspectorPanelTest, ASourceThatWasWrittenAfterTheRunIsMarked) {
  select(10);
  EXPECT_EQ(text("source-edited"), "(absent)");
  ASSERT_EQ(test::sql(database_.path(), "UPDATE runs SET start_utc = '2025-01-01T00:00:00Z'"), "");
  PanelWindow window(database_.path(), std::make_unique<InspectorPanel>(),
                     {.width = 380, .height = 1600});
  window.workspace().select_node(10);
  window.run("wait\nexpect inspector/all/line/39 attention(\nfits");
  EXPECT_THAT(window.text("inspector/all/source-edited"), HasSubstr("after this run began"));
}

TEST_F(InspectorPanelTest, SlowestNodesNameTheirScopes) {
  const NodeSums sums =
      sums_of(*window_.document().capture(), window_.document().statistics(), {0, 91}, 1);
  const std::uint32_t node = sums.slowest.front();
  EXPECT_EQ(text("slowest/node/" + std::to_string(node) + "/scope"),
            window_.document().capture()->nodes[node].scope);
}

TEST_F(InspectorPanelTest, AClickOnANeighbourGoesThere) {
  select(10);
  run("click inspector/all/operand/0/from/6\nexpect inspector/all/title #6");
  EXPECT_EQ(window_.workspace().selection.current().node, 6U);
}

TEST_F(InspectorPanelTest, AClickOnAScopeShowsItsSumsAndSlowestNodes) {
  select(10);
  const ScopeTree& scopes = window_.workspace().scopes;
  const std::uint32_t attn = scopes[scopes.item_of_node(10)].parent;
  run("click inspector/all/scope/" + std::to_string(attn));
  EXPECT_EQ(text("title"), "layer.0/attn");
  EXPECT_EQ(text("nodes"), "11, from #2");
  run("click inspector/all/slowest/node/10");
  EXPECT_EQ(window_.workspace().selection.current().node, 10U);
}

TEST_F(InspectorPanelTest, SumsAndSlowestNodesAreThoseOfTheSelectionAndTheRange) {
  const auto expect_those_of = [&](std::uint32_t first, std::uint32_t count) {
    run("wait");
    const NodeSums sums =
        sums_of(*window_.document().capture(), window_.document().statistics(), {first, count}, 12);
    EXPECT_EQ(window_.count("inspector/all/slowest/node/"), std::min(count, 12U));
    for (const std::uint32_t node : sums.slowest) {
      EXPECT_NE(text("slowest/node/" + std::to_string(node)), "(absent)");
    }
    EXPECT_EQ(text("p50"), first == 0 ? "(absent)" : duration_text(sums.p50_ns));
  };
  expect_those_of(0, 91);
  const ScopeTree& scopes = window_.workspace().scopes;
  const std::uint32_t attn = scopes[scopes.item_of_node(10)].parent;
  window_.workspace().select({.node = {}, .item = attn});
  expect_those_of(2, 11);
  window_.workspace().document.set_range(ReplayRange{7, 7});
  expect_those_of(2, 11);
  window_.workspace().select({.node = {}, .item = scopes[attn].parent});
  expect_those_of(scopes[scopes[attn].parent].first, scopes[scopes[attn].parent].count);
}

TEST_F(InspectorPanelTest, SaysWhyANodeHasABarrier) {
  select(3);
  const auto& barriers = window_.document().capture()->barriers;
  const auto barrier = std::find_if(barriers.begin(), barriers.end(),
                                    [](const auto& b) { return b.before_step == 3; });
  const std::string id = std::to_string(barrier - barriers.begin());
  EXPECT_THAT(text("barrier/" + id + "/kind"), HasSubstr("RAW"));
  EXPECT_THAT(text("barrier/" + id + "/reason"), HasSubstr("rms_norm (layer.0/attn) wrote"));
}

TEST_F(InspectorPanelTest, WithoutNodeTimesItNamesTheCall) {
  window_.workspace().document.choose({.run = 1, .graph = 1});
  run("wait");
  select(10);
  EXPECT_THAT(text("no-times"), HasSubstr("TimingMode::node"));
}

TEST(InspectorPanel, SaysWhereItLookedForASourceThatIsNotThere) {
  std::mt19937_64 random(test::test_seed());
  const RecordedDatabase database({.replays = 2}, random);
  PanelWindow window(database.path(), std::make_unique<InspectorPanel>(),
                     {.width = 380, .height = 900});
  window.workspace().select_node(1);
  window.run("wait");
  EXPECT_THAT(window.text("inspector/all/source-problem"), HasSubstr("model.cpp"));
  EXPECT_THAT(window.text("inspector/all/source-problem"), HasSubstr(captured_sources().string()));
}

TEST_F(InspectorPanelTest, NothingIsCutOff) {
  run("fits");
  for (const std::uint32_t node : {0U, 1U, 6U, 10U, 90U}) {
    select(node);
    run("fits");
  }
}

}  // namespace
}  // namespace reprise::debugger
