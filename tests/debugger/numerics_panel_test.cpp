// Paths: numerics/reference, numerics/threshold, numerics/first, numerics/next, numerics/differing,
// numerics/count, numerics/<parting, nothing, problem>, and the table numerics/table with columns
// index, op, scope, tensor, max_rel, max_abs, rmse, cosine, first_bad, not_finite, result and the
// tensor as row id.
#include "debugger/views/numerics_panel.h"

#include <cmath>

#include "reprise/sql_query.h"
#include "tests/debugger/debugger_window.h"
#include "tests/debugger/panel_window.h"
#include "tests/debugger/watched_database.h"
#include "tests/profile/sql.h"
#include "tests/profile_cli/timed_database.h"

namespace reprise::debugger {
namespace {

using ::testing::HasSubstr;

constexpr HeadlessOptions kBottom{.width = 1600, .height = 240};

/// s (node 1) parts from the reference, and so do the logits (node 2), which hold a NaN as well.
class NumericsPanelTest : public ::testing::Test {
 protected:
  static std::vector<ComparisonRecord> comparisons() {
    return {{.node = 0, .tensor = 3, .name = "h", .reference = "cpu", .tolerance = 1e-3},
            {.node = 1,
             .tensor = 4,
             .name = "s",
             .reference = "cpu",
             .max_abs = 0.5,
             .max_rel = 0.01,
             .rmse = 0.125,
             .cosine = 0.75,
             .first_bad = 7,
             .input_differs = false,
             .tolerance = 1e-3,
             .pass = false},
            {.node = 2,
             .tensor = 5,
             .name = "logits",
             .reference = "cpu",
             .max_abs = INFINITY,
             .max_rel = INFINITY,
             .rmse = INFINITY,
             .cosine = NAN,
             .first_bad = 1,
             .input_differs = true,
             .tolerance = 1e-3,
             .pass = false},
            {.name = "output 'logits'", .reference = "direct"}};
  }
  static std::vector<WatchedLaunch> launches() {
    std::vector<float> bad = ramp(192, 0, 1);
    bad[1] = NAN;
    return {{{{0, {2, 96}, ramp(192, 0, 1)}, {2, {2, 96}, bad}}}};
  }
  NumericsPanelTest() : database_(launches(), comparisons()) {
    window_.emplace(database_.path(), std::make_unique<NumericsPanel>(), kBottom);
    run("click numerics/reference\nclick numerics/reference/1\nexpect numerics/reference cpu");
  }
  void run(const std::string& script) { window_->run(script); }
  std::string text(std::string_view path) { return window_->text(path); }
  std::optional<std::uint32_t> selected() { return window_->workspace().selection.current().node; }

  const WatchedDatabase database_;
  std::optional<PanelWindow> window_;
};

TEST_F(NumericsPanelTest, ShowsNodesInOrderAndWhereTheyPart) {
  EXPECT_EQ(text("numerics/table/row/3/result"), "passes");
  EXPECT_EQ(text("numerics/table/row/4"),
            "1  add  layer.3  s  1.0e-2  5.0e-1  1.2e-1  0.750000  7    parts here");
  EXPECT_EQ(text("numerics/table/row/5/max_rel"), "not finite");
  EXPECT_EQ(text("numerics/table/row/5/result"), "its input differs: #1");
  EXPECT_EQ(text("numerics/table/row/5/not_finite"), "1 NaN");
  EXPECT_EQ(text("numerics/count"), "2 of 3 differ");
  EXPECT_THAT(text("numerics/parting"), HasSubstr("part at #1 add (layer.3), by 1.0e-2"));
  run("fits");
}

TEST_F(NumericsPanelTest, ARowSelectsItsNode) {
  run("click numerics/table/row/5\nexpect_state numerics/table/row/5 selected");
  EXPECT_EQ(selected(), 2U);
}

TEST_F(NumericsPanelTest, UpAndDownWalk) {
  run("click numerics/table/row/4\nkey Down\nexpect_state numerics/table/row/5 selected\nkey Up");
  EXPECT_EQ(selected(), 1U);
}

TEST_F(NumericsPanelTest, TheButtonsLeadToTheFirstThatDiffersAndTheNextNan) {
  run("click numerics/first");
  EXPECT_EQ(selected(), 1U);
  run("click numerics/next");
  EXPECT_EQ(selected(), 2U);
  window_->workspace().select_node(0);
  run("click numerics/parting");
  EXPECT_EQ(selected(), 1U);
}

TEST_F(NumericsPanelTest, AnotherThresholdIsAnotherVerdict) {
  run("type numerics/threshold 5%\nexpect numerics/count 1 of 3");
  EXPECT_EQ(text("numerics/table/row/4/result"), "passes");
  EXPECT_EQ(text("numerics/table/row/5/result"), "parts here");
  run("type numerics/threshold 5x\nexpect numerics/problem (5x)\nexpect numerics/count of 3");
}

TEST_F(NumericsPanelTest, OnlyThoseThatDifferIfAsked) {
  run("click numerics/differing\nabsent numerics/table/row/3\nexpect numerics/table/row/4 add");
}

TEST_F(NumericsPanelTest, ComparesWithTheReferenceThatIsChosen) {
  run("click numerics/reference\nclick numerics/reference/0\nexpect numerics/reference direct");
  EXPECT_EQ(text("numerics/table/row/7"),
            "  (the whole pass)    output 'logits'  0  0  0  1.000000      passes");
  EXPECT_EQ(text("numerics/table/row/5/result"), "not compared");  // for its NaN
  EXPECT_EQ(text("numerics/nothing"), "Nothing differs.");
  run("expect_state numerics/first disabled\nclick numerics/table/row/7");
  EXPECT_EQ(selected(), std::nullopt);
}

TEST_F(NumericsPanelTest, CopiesAQueryOfTheComparisons) {
  EXPECT_EQ(run_sql(database_.path(), window_->panel().sql(window_->workspace())).rows.size(), 3U);
}

TEST_F(NumericsPanelTest, LeavesTheRestUsableWhenTheFileSaysAnything) {
  ASSERT_EQ(test::sql(database_.path(),
                      "UPDATE comparisons SET name = '%s##' || char(27), reference = '##%n', "
                      "max_rel = 9e999, cosine = 'x', first_bad_index = -9223372036854775808, "
                      "tolerance = -1, node_idx = CASE id WHEN 2 THEN -1 ELSE node_idx END; UPDATE "
                      "tensor_stats SET nan_count = 9223372036854775807, inf_count = -3"),
            "");
  PanelWindow window(database_.path(), std::make_unique<NumericsPanel>(), kBottom);
  EXPECT_EQ(window.count("numerics/table/row/"), 3U);
  EXPECT_EQ(window.text("numerics/table/row/3/max_rel"), "not finite");
}

TEST(NumericsPanel, WhatHeldANanDoesNotJustPass) {
  std::vector<float> bad = ramp(192, 0, 1);
  bad[1] = NAN;
  const WatchedDatabase database(
      {{{{0, {2, 96}, bad}}}},
      {{.node = 0, .tensor = 3, .name = "h", .reference = "cpu", .tolerance = 1e-3}});
  const PanelWindow window(database.path(), std::make_unique<NumericsPanel>(), kBottom);
  EXPECT_EQ(window.text("numerics/table/row/3/not_finite"), "1 NaN");
  EXPECT_EQ(window.text("numerics/table/row/3/result"), "passes, but is not finite");
}

TEST(NumericsPanel, LeadsToTheGraphThatWasCompared) {
  const WatchedDatabase database(
      {}, {{.node = 0, .tensor = 3, .name = "h", .reference = "cpu", .tolerance = 1e-3}});
  test::write_run(database.path(), {.graph = {.scales = 2}});
  PanelWindow window(database.path(), std::make_unique<NumericsPanel>(), kBottom);
  EXPECT_THAT(window.text("numerics/empty/what"),
              HasSubstr("1 comparison of this file is of 'decode', run 1, graph 1"));
  window.run("fits\nclick numerics/elsewhere\nwait\nexpect numerics/count 0 of 1 differ");
}

TEST(NumericsPanel, HasNoRowsOfTheGraphThatWasShownBefore) {
  const WatchedDatabase database(
      {}, {{.node = 0, .tensor = 3, .name = "h", .reference = "cpu", .tolerance = 1e-3}});
  test::write_run(database.path(), {.graph = {.scales = 2}});
  DebuggerWindow window(database.path());
  window.run(
      "click header/capture\nclick header/capture/1\nwait\n"
      "click tab/numerics\nwait\nexpect numerics/count 0 of 1 differ\n"
      "click header/capture\nclick header/capture/0\nwait\n"
      "click tab/nodes\nclick nodes/table/row/0\nexpect numerics/empty/what Nothing was compared\n"
      "click menus/view\nhover menus/view/Numerics\n"
      "expect_state menus/view/Numerics/next_result disabled");
}

TEST(NumericsPanel, SaysHowNumbersAreCompared) {
  const WatchedDatabase database;
  const PanelWindow window(database.path(), std::make_unique<NumericsPanel>(), kBottom);
  EXPECT_THAT(window.text("numerics/empty/what"), HasSubstr("Nothing was compared"));
  EXPECT_THAT(window.text("numerics/empty/call"), HasSubstr("compare_numerics("));
}

TEST_F(NumericsPanelTest, ItsKeysWorkInEveryPanel) {
  DebuggerWindow window(database_.path());
  window.run("key N\nwait");
  EXPECT_EQ(window.workspace().selection.current().node, 2U);
  window.run("key F9\nexpect status/notice No node differs from direct");
  window.run(
      "click tab/numerics\nclick numerics/reference\nclick numerics/reference/1\n"
      "click tab/timeline\nkey F9");
  EXPECT_EQ(window.workspace().selection.current().node, 1U);
}

TEST(NumericsKeys, TabsSayWhetherSomethingIsWrong) {
  std::vector<float> bad = ramp(192, 0, 1);
  bad[7] = NAN;
  const WatchedDatabase database({{{{1, {2, 96}, bad}}}}, {});
  DebuggerWindow window(database.path());
  window.run(
      "wait\nexpect tab/numerics/badge NaN\nclick tab/nodes\n"
      "expect replays/legend 1");
  const SampleDatabase sound;
  DebuggerWindow well(sound.path());
  well.run("wait\nabsent tab/numerics/badge\nabsent tab/log/badge");
}

TEST(NumericsKeys, ATabWithoutRoomForItsBadgeShowsNoneOverItsNeighbour) {
  std::vector<float> bad = ramp(192, 0, 1);
  bad[7] = NAN;
  const WatchedDatabase database({{{{1, {2, 96}, bad}}}}, {});
  DebuggerWindow window(database.path(), {.width = 1280, .height = 720, .scale = 4});
  window.run("wait\nabsent tab/numerics/badge");
}

/// Of three watched launches the second alone held a NaN; Tensors would show the latest.
TEST(NumericsKeys, NShowsTheReplayThatHeldTheNan) {
  std::vector<float> bad = ramp(192, 0, 1);
  bad[7] = NAN;
  const WatchedDatabase database(
      {{{{1, {2, 96}, ramp(192, 0, 1)}}}, {{{1, {2, 96}, bad}}}, {{{1, {2, 96}, ramp(192, 0, 1)}}}},
      {});
  DebuggerWindow window(database.path());
  window.run(
      "click tab/tensors\nwait\nkey N\nwait\n"
      "expect tensors/replay replay 1\nexpect tensors/all/statistics/nan/one 1");
  EXPECT_EQ(window.workspace().document.shown_replay(), 1U);
}

/// The first launch with a NaN kept statistics alone, the second its contents too.
TEST(NumericsKeys, NLeadsToTheFirstReplayWhoseContentsWereKept) {
  std::vector<float> bad = ramp(192, 0, 1);
  bad[100] = NAN;
  const WatchedDatabase database({{{{1, {2, 96}, bad}}, false},
                                  {{{1, {2, 96}, bad}}},
                                  {{{1, {2, 96}, bad}}},
                                  {{{1, {2, 96}, ramp(192, 0, 1)}}}},
                                 {});
  DebuggerWindow window(database.path());
  window.run("click tab/tensors\nwait\nkey N\nwait\nexpect tensors/replay replay 1, with values");
  window.run("expect tensors/all/values/first_not_finite first nan at [1, 4]");
  window.run(
      "click tab/inspector\nwait\n"
      "expect inspector/all/operand/2/not_finite 3 NaN; replay 1: first nan at [1, 4]");
}

TEST(NumericsKeys, SaysInTheInspectorWhyTheContentsCannotBeRead) {
  std::vector<float> bad = ramp(192, 0, 1);
  bad[100] = NAN;
  const WatchedDatabase database({{{{1, {2, 96}, bad}}}}, {});
  ASSERT_EQ(test::sql(database.path(), "UPDATE snapshots SET data = zeroblob(768)"), "");
  DebuggerWindow window(database.path());
  window.run("key N\nwait\nexpect inspector/all/operand/2/not_finite 1 NaN; The snapshot");
}

TEST(NumericsKeys, SaysInTheInspectorThatNoContentsWereKept) {
  std::vector<float> bad = ramp(192, 0, 1);
  bad[100] = -INFINITY;
  const WatchedDatabase database({{{{1, {2, 96}, bad}}, false}}, {});
  DebuggerWindow window(database.path());
  window.run(
      "key N\nwait\nexpect inspector/all/operand/2/not_finite 1 infinite; no contents of it were "
      "kept");
}

TEST(NumericsKeys, SayThatThereIsNothing) {
  const WatchedDatabase database;
  DebuggerWindow window(database.path());
  window.run("key F9\nexpect status/notice Nothing was compared");
  window.run("key N\nexpect status/notice No watched result");
}

}  // namespace
}  // namespace reprise::debugger
