#include "debugger/views/graph_panel.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "reprise/sql_query.h"
#include "tests/debugger/panel_window.h"
#include "tests/debugger/watched_database.h"
#include "tests/profile/sql.h"

namespace reprise::debugger {
namespace {

/// The items of the sample capture: plan 1, get_rows 2, layer.* 3, layer.0 4, its attn 5 and
/// rms_norm 6.
using ::testing::HasSubstr;

class GraphPanelTest : public PanelTest<GraphPanel> {
 protected:
  GraphPanelTest() : PanelTest({.width = 1000, .height = 700}) {}
  std::string value(std::string_view path) { return window_.host().registry().value(path); }
  const Widget* find(std::string_view path) { return window_.host().registry().find(path); }
  std::string state(std::string_view path) {
    return find(path) == nullptr ? "(absent)" : find(path)->state;
  }
  Rect place(std::string_view path) { return find(path)->visible; }
  Workspace& workspace() { return window_.workspace(); }
  const Selection& selection() { return workspace().selection.current(); }
};

TEST_F(GraphPanelTest, ShowsTheRepeatedLayersAsOneBox) {
  run("expect graph/boxes 5\nexpect graph/box/3 layer.*\nexpect_state graph/box/3 folded\n"
      "expect_state graph/box/3 group\nfits");
  EXPECT_EQ(window_.count("graph/box/"), 5U);
}

TEST_F(GraphPanelTest, ADoubleClickUnfoldsAGroupAndAScopeWhereTheyAre) {
  const float before = place("graph/box/3").min_y;
  run("double graph/box/3\nexpect graph/boxes 9\nexpect graph/box/4 layer.0\n"
      "expect_state graph/frame/3 selected");
  EXPECT_NEAR(place("graph/box/4").min_y, before, 2);
  run("double graph/box/4\nexpect graph/box/5 attn\nexpect graph/frame/4 layer.0\nfits");
}

TEST_F(GraphPanelTest, TheCaretOfAFrameFoldsItAgain) {
  run("click graph/fold/3\nexpect graph/boxes 9\nclick graph/fold/3\nexpect graph/boxes 5\n"
      "absent graph/frame/3");
}

TEST_F(GraphPanelTest, ADoubleClickOnANodeFoldsItsScope) {
  run("click graph/fold/3\nclick graph/fold/4\nclick graph/fold/5\nexpect graph/box/6 rms_norm\n"
      "double graph/box/6\nabsent graph/box/6\nexpect_state graph/box/5 folded");
}

TEST_F(GraphPanelTest, BracketsFoldAndUnfoldTheSelectionAndWithShiftEverything) {
  run("click graph/box/3\nkey ]\nexpect graph/boxes 9\nkey [\nexpect graph/boxes 5\n"
      "key Shift+]\nexpect graph/boxes 91\nkey Shift+[\nexpect graph/boxes 5");
}

TEST_F(GraphPanelTest, AClickSelectsNodesAndScopes) {
  run("click graph/box/2\nexpect_state graph/box/2 selected");
  EXPECT_EQ(selection(), (Selection{.node = 1, .item = {}}));
  run("click graph/box/3\nexpect_state graph/box/3 selected");
  EXPECT_EQ(selection(), (Selection{.node = {}, .item = 3}));
  EXPECT_EQ(state("graph/box/2"), "");
}

TEST_F(GraphPanelTest, CrumbsLeadFromTheCaptureToTheSelection) {
  workspace().select_node(2);
  run("expect graph/crumb/0 decode\nexpect graph/crumb/1 layer.*\nexpect graph/crumb/2 layer.0\n"
      "expect graph/crumb/3 attn\nexpect graph/crumb/4 rms_norm\nclick graph/crumb/2\nfits");
  EXPECT_EQ(selection(), (Selection{.node = {}, .item = 4}));
  run("absent graph/crumb/3\nclick graph/crumb/0");
  EXPECT_EQ(selection(), Selection{});
}

TEST_F(GraphPanelTest, ShowsWhatAnotherPanelSelected) {
  workspace().select_node(60);
  run("wait");
  const std::uint32_t item = workspace().scopes.item_of_node(60);
  const std::string box = "graph/box/" + std::to_string(item);
  EXPECT_EQ(state(box), "selected");
  EXPECT_FALSE(workspace().reveal);
  EXPECT_GT(place(box).max_x, place(box).min_x);
}

TEST_F(GraphPanelTest, DraggingPansFromTheGroundAndFromBoxes) {
  const Rect before = place("graph/box/3");
  run("drag graph/canvas 0.1 0.5 0.2 0.5");
  EXPECT_NEAR(place("graph/box/3").min_x, before.min_x + 100, 1);
  run("drag graph/box/3 0.2 0.2 0.2 0.7");
  EXPECT_NEAR(place("graph/box/3").min_y, before.min_y + (before.max_y - before.min_y) / 2, 1);
  EXPECT_EQ(selection(), Selection{});
}

TEST_F(GraphPanelTest, TheWheelZoomsAroundTheMouse) {
  const Rect before = place("graph/box/3");
  run("wheel graph/box/3 3");
  const Rect after = place("graph/box/3");
  EXPECT_NEAR((after.max_x - after.min_x) / (before.max_x - before.min_x), 1.643, 0.01);
  EXPECT_NEAR(after.min_y + after.max_y, before.min_y + before.max_y, 2);
}

TEST_F(GraphPanelTest, SmallBoxesAreStillFoundByTheMouse) {
  run("wheel graph/canvas -8");
  run("click graph/box/2");
  EXPECT_EQ(selection().node, 1U);
  run("key Home");
  EXPECT_GE(std::stof(value("graph/zoom")), 0.8F);
}

TEST_F(GraphPanelTest, HomeAndTheButtonFrameEverything) {
  run("wheel graph/canvas 9\nkey Home");
  const std::string all = value("graph/zoom");
  EXPECT_EQ(window_.count("graph/box/"), 5U);
  run("wheel graph/canvas 9\nclick graph/frame_all");
  EXPECT_EQ(value("graph/zoom"), all);
}

TEST_F(GraphPanelTest, FFramesTheSelection) {
  run("click graph/box/2\nkey Shift+]\nwheel graph/canvas -12\nkey F");
  const Rect box = place("graph/box/2");
  EXPECT_NEAR(box.min_x + box.max_x, 1000, 4);
}

TEST_F(GraphPanelTest, HTogglesTheBarriers) {
  run("expect graph/barriers_shown true\nkey H\nexpect graph/barriers_shown false\n"
      "expect_state graph/barriers off\nclick graph/barriers\nexpect graph/barriers_shown true");
}

TEST_F(GraphPanelTest, CCyclesTheColours) {
  run("expect graph/colour time\nkey C\nexpect graph/colour op\nkey C\nexpect graph/colour error");
  EXPECT_THAT(window_.text("graph/no_values"), HasSubstr("verify()"));
  run("key C\nexpect graph/colour memory\nexpect graph/note bytes of results\nfits\n"
      "key C\nexpect graph/colour variance\nexpect graph/note standard deviation\nfits\n"
      "key C\nexpect graph/colour critical path\nexpect graph/note nodes, \nfits\n"
      "key C\nexpect graph/colour time");
}

TEST_F(GraphPanelTest, TheColoursAreChosenFromAList) {
  run("click graph/colour_by\nclick graph/colour_by/4\nexpect graph/colour variance\n"
      "expect graph/colour_by Colour: variance");
}

TEST(GraphPanelColours, AreOfTheErrorsThatNumericsShows) {
  const auto error = [](const char* reference, double max_rel) {
    return ComparisonRecord{
        .node = 0, .tensor = 3, .name = "h", .reference = reference, .max_rel = max_rel};
  };
  const auto picture = [](const WatchedDatabase& database, std::size_t reference) {
    PanelWindow window(database.path(), std::make_unique<GraphPanel>(),
                       {.width = 1000, .height = 500});
    window.run("key C\nkey C\nwait\nexpect graph/note greatest relative error");
    window.workspace().errors.reference = reference;
    window.run("wait");
    return window.host().picture();
  };
  const WatchedDatabase both({}, {error("cpu", 0.5), error("direct", 1e-6)});
  const WatchedDatabase direct({}, {error("direct", 1e-6)}), cpu({}, {error("cpu", 0.5)});
  EXPECT_EQ(picture(both, 0), picture(direct, 0));
  EXPECT_EQ(picture(both, 1), picture(cpu, 0));
  EXPECT_NE(picture(cpu, 0), picture(direct, 0));
}

TEST(GraphMarks, AreAtNodesThatHeldANan) {
  std::vector<float> bad = ramp(192, 0, 1);
  bad[7] = NAN;
  const WatchedDatabase database({{{{1, {2, 96}, bad}}}}, {});
  PanelWindow window(database.path(), std::make_unique<GraphPanel>(),
                     {.width = 1000, .height = 700});
  window.run("key Shift+]\nwait");
  std::vector<std::string> marked, paths;
  for (const auto& [path, widget] : window.host().registry().widgets()) {
    if (path.starts_with("graph/box/") && widget.state.find("nan") != std::string::npos) {
      marked.push_back(widget.text);
      paths.push_back(path);
    }
  }
  ASSERT_EQ(marked, std::vector<std::string>{"add"});
  window.run("hover " + paths[0] + "\nwait\nexpect tooltip a watched result held");
}

TEST_F(GraphPanelTest, TheMinimapMovesTheCamera) {
  run("absent graph/minimap\nkey Shift+]\ndrag graph/minimap 0.5 0.1 0.5 0.99");
  EXPECT_EQ(state("graph/box/1"), "(absent)");
  run("drag graph/minimap 0.5 0.9 0.5 0");
  EXPECT_EQ(window_.text("graph/box/1"), "plan");
}

TEST_F(GraphPanelTest, TheMinimapLiesOverNoBox) {
  run("key Shift+]\nclick graph/box/1\nkey F\nwheel graph/box/1 2\nwait");
  for (int step = 0; step < 12; ++step) {
    run("key Shift+Down\nkey Shift+Left\nwait");
    const Widget* const map = find("graph/minimap");
    for (const auto& [path, widget] : window_.host().registry().widgets()) {
      const Rect &box = widget.visible, over = map == nullptr ? Rect() : map->visible;
      EXPECT_TRUE(!path.starts_with("graph/box/") || box.max_x <= over.min_x ||
                  box.min_x >= over.max_x || box.max_y <= over.min_y || box.min_y >= over.max_y)
          << path;
    }
  }
}

TEST_F(GraphPanelTest, HoveringABarrierTellsItsCause) {
  const Rect upper = place("graph/box/1"), lower = place("graph/box/2");
  window_.host().mouse().move(
      {(upper.min_x + upper.max_x) / 2 + 8, (upper.max_y + lower.min_y) / 2});
  run("wait\nexpect tooltip plan wrote what get_rows reads");
}

TEST_F(GraphPanelTest, APartOfAStripIsOneLayer) {
  const Rect box = place("graph/box/3");
  const ImVec2 last{box.max_x - 20, box.max_y - 16};
  window_.host().mouse().move(last);
  run("wait\nexpect tooltip layer.4");
  window_.host().mouse().press(ImGuiMouseButton_Left, true);
  window_.host().mouse().press(ImGuiMouseButton_Left, false);
  run("wait");
  EXPECT_EQ(workspace().scopes[selection().item.value()].name, "layer.4");
  run("expect graph/boxes 5");
}

TEST_F(GraphPanelTest, ItsQueryGivesNodesAndEdges) {
  const SqlResult result = run_sql(database_.path(), window_.panel().sql(workspace()), SqlLimits{});
  EXPECT_GE(result.rows.size(), 91U);
}

TEST(Panel, WithoutACaptureSaysWhy) {
  PanelWindow window("/nonexistent/profile.db", std::make_unique<GraphPanel>(), {});
  EXPECT_NE(window.text("graph/empty/what").find("there is no such file"), std::string::npos);
}

TEST(GraphPanel, FitsAtTwiceTheScale) {
  const SampleDatabase database;
  PanelWindow window(database.path(), std::make_unique<GraphPanel>(),
                     {.width = 1600, .height = 1000, .scale = 2});
  window.run("fits\nkey C\nfits\nkey Shift+]\nfits\nkey Home\nfits");
  EXPECT_EQ(window.host().registry().value("graph/boxes"), "91");
}

/// At four times the scale a window has room for little more than a node.
TEST(GraphPanel, ItsBarsLieBesideTheCanvas) {
  const SampleDatabase database;
  for (const float scale : {1.0F, 4.0F}) {
    PanelWindow window(database.path(), std::make_unique<GraphPanel>(),
                       {.width = 1280, .height = 720, .scale = scale});
    window.run("fits");
    const auto& registry = window.host().registry();
    const Rect canvas = registry.find("graph/canvas")->visible;
    std::size_t beside = 0;
    for (const char* const path : {"graph/crumb/0", "graph/colour_by", "graph/legend"}) {
      const Widget* const widget = registry.find(path);
      if (widget != nullptr) {  // where there is little room the keys do the same
        ++beside;
        EXPECT_TRUE(widget->visible.max_y <= canvas.min_y || widget->visible.min_y >= canvas.max_y)
            << path;
      }
    }
    EXPECT_GE(beside, scale == 1 ? 3U : 2U) << scale;
  }
}

TEST(GraphPanel, HasASmallestZoomAndAMapInsteadOfAHairline) {
  const SampleDatabase database;
  PanelWindow window(database.path(), std::make_unique<GraphPanel>(),
                     {.width = 600, .height = 200});
  window.run("key Shift+]\nkey Home\nwait\nexpect graph/minimap Overview");
  EXPECT_GE(std::stof(window.host().registry().value("graph/zoom")), 0.05F);
}

/// The largest scope is not in sight: the slowest node of those that are has the hottest colour.
TEST(GraphPanel, ColoursOfTimesAreOfWhatIsInSight) {
  const SampleDatabase database;
  PanelWindow window(database.path(), std::make_unique<GraphPanel>(),
                     {.width = 900, .height = 400});
  const std::string of_all = window.text("graph/legend");
  window.run("key Shift+]");
  window.workspace().select_node(88);
  window.run("wait");
  EXPECT_NE(window.text("graph/legend"), of_all);
}

TEST(GraphPanel, ARightClickAsksWhatToDoWithTheBox) {
  const SampleDatabase database;
  PanelWindow window(database.path(), std::make_unique<GraphPanel>(),
                     {.width = 900, .height = 600});
  window.run("right graph/box/1\nexpect graph/context/copy Copy");
}

}  // namespace
}  // namespace reprise::debugger
