#include "debugger/views/outline_panel.h"

#include <string>

#include <gtest/gtest.h>

#include "reprise/sql_query.h"
#include "tests/debugger/panel_window.h"
#include "tests/profile_cli/timed_database.h"

namespace reprise::debugger {
namespace {

class OutlinePanelTest : public PanelTest<OutlinePanel> {
 protected:
  OutlinePanelTest() : PanelTest({.width = 400, .height = 500}) {}
  Workspace& workspace() { return window_.workspace(); }
  const Selection& selection() { return workspace().selection.current(); }
};

TEST_F(OutlinePanelTest, ShowsScopesWithTheirTimeAndShare) {
  run("expect outline/rows 5\nexpect outline/row/3 layer.*\nexpect_state outline/row/3 folded\n"
      "expect outline/row/3 %\nfits");
}

/// One replay in which the first node takes a thousand times as long is in no median.
TEST(OutlinePanel, SharesAreThoseOfTheTimesBesideThem) {
  const test::TempFolder folder;
  const std::filesystem::path path = folder / "profile.db";
  test::write_run(path, {.replays = 12, .step_ns = [](std::uint64_t replay, std::size_t step) {
                           return replay == 5 && step == 0 ? 1'000'000U : 1000U;
                         }});
  PanelWindow window(path, std::make_unique<OutlinePanel>(), {.width = 400, .height = 500});
  window.run("key Shift+]\nwait");
  const ScopeTree& scopes = window.workspace().scopes;
  const auto row = [&](std::uint32_t node) {
    return window.text("outline/row/" + std::to_string(scopes.item_of_node(node)));
  };
  EXPECT_THAT(row(0), ::testing::EndsWith("1.00 \xC2\xB5s?20.0 %"));
  EXPECT_THAT(row(2), ::testing::EndsWith("2.00 \xC2\xB5s?40.0 %"));
}

TEST_F(OutlinePanelTest, TheCaretAndADoubleClickFold) {
  run("click outline/row/3/fold\nexpect outline/rows 10\nexpect_state outline/row/3 unfolded\n"
      "double outline/row/4\nexpect outline/rows 12\nclick outline/row/3/fold\n"
      "expect outline/rows 5");
}

TEST_F(OutlinePanelTest, AClickSelectsWhatTheRowShows) {
  run("click outline/row/2\nexpect_state outline/row/2 selected");
  EXPECT_EQ(selection(), (Selection{.node = 1, .item = {}}));
  run("click outline/row/3");
  EXPECT_EQ(selection(), (Selection{.node = {}, .item = 3}));
}

TEST_F(OutlinePanelTest, UpAndDownWalk) {
  run("click outline/row/2\nkey Down\nexpect_state outline/row/3 selected\nkey Up\n"
      "expect_state outline/row/2 selected");
}

TEST_F(OutlinePanelTest, ARightClickSelectsAndAsks) {
  run("right outline/row/3\nexpect_state outline/row/3 selected\n"
      "expect outline/row/context/copy Copy\nkey Escape");
}

TEST_F(OutlinePanelTest, BracketsFoldTheSelection) {
  run("click outline/row/3\nkey ]\nexpect outline/rows 10\nkey [\nexpect outline/rows 5\n"
      "key Shift+]\nkey Shift+[\nexpect outline/rows 5");
}

TEST_F(OutlinePanelTest, AFilterFindsPartsOfNamesInFoldedScopes) {
  run("type outline/filter ROPE\nexpect outline/row/3 layer.*\nexpect outline/rows 21");
  run("type outline/filter layer.2/attn/rope\nexpect outline/rows 5");
  run("type outline/filter nothing\nexpect outline/rows 0\nexpect outline/row/none No scope");
  run("type outline/filter\nexpect outline/rows 5\nfits");
}

TEST_F(OutlinePanelTest, ScrollsToWhatAnotherPanelSelected) {
  run("key Shift+]\nwait");
  workspace().select_node(85);
  run("wait");
  const std::string row = "outline/row/" + std::to_string(workspace().scopes.item_of_node(85));
  const Widget* const widget = window_.host().registry().find(row);
  ASSERT_NE(widget, nullptr);
  EXPECT_EQ(widget->state, "selected");
  EXPECT_GT(widget->visible.max_y, widget->visible.min_y);
}

TEST_F(OutlinePanelTest, ItsQueryGivesTimesOfScopes) {
  const SqlResult result = run_sql(database_.path(), window_.panel().sql(workspace()), SqlLimits{});
  EXPECT_EQ(result.columns[0], "scope");
  EXPECT_GE(result.rows.size(), 12U);
}

TEST(OutlinePanel, FitsInANarrowPanelAndAtTwiceTheScale) {
  const SampleDatabase database;
  PanelWindow narrow(database.path(), std::make_unique<OutlinePanel>(),
                     {.width = 240, .height = 400});
  narrow.run("key Shift+]\nfits");
  PanelWindow large(database.path(), std::make_unique<OutlinePanel>(),
                    {.width = 800, .height = 1000, .scale = 2});
  large.run("key Shift+]\nfits");
}

}  // namespace
}  // namespace reprise::debugger
