// Everything with the keyboard alone: Tab, F6, Enter and Escape.
#include <gtest/gtest.h>

#include "tests/debugger/debugger_window.h"
#include "tests/debugger/panel_window.h"

namespace reprise::debugger {
namespace {

class KeyboardFocus : public ::testing::Test {
 protected:
  /// The widget whose state is "focused".
  std::string focused() {
    for (const auto& [path, widget] : window_.host().registry().widgets()) {
      if (widget.state.find("focused") != std::string::npos) {
        return path;
      }
    }
    return "(nowhere)";
  }
  const SampleDatabase database_;
  DebuggerWindow window_{database_.path()};
};

TEST_F(KeyboardFocus, GoesWithTabFromButtonToButtonAndBack) {
  window_.run("click graph/barriers\nkey Tab");
  const std::string next = focused();
  EXPECT_TRUE(next.starts_with("graph/")) << next;
  window_.run("key Shift+Tab\nexpect_state graph/barriers focused");
}

TEST_F(KeyboardFocus, PressesAButtonWithEnterAndSpace) {
  window_.run("click graph/barriers\nexpect_state graph/barriers off\nkey Tab\nkey Shift+Tab");
  window_.run("key Enter\nexpect_state graph/barriers on\nkey Space");
  window_.run("expect_state graph/barriers off\nexpect_state graph/barriers focused");
  EXPECT_FALSE(window_.workspace().playing);
}

TEST_F(KeyboardFocus, IsLeftWithEscapeAndByTheMouse) {
  window_.run("key Tab");
  EXPECT_NE(focused(), "(nowhere)");
  window_.run("key Escape");
  EXPECT_EQ(focused(), "(nowhere)");
  window_.run("key Tab\nclick outline/row/1");
  EXPECT_EQ(focused(), "(nowhere)");
}

TEST_F(KeyboardFocus, GoesIntoAnInputAndOutOfIt) {
  window_.run("click tab/outline\nkey Tab");
  for (int i = 0; i < 20 && window_.host().registry().find("outline/filter")->state != "active";
       ++i) {
    window_.run("key Tab");
  }
  window_.run("expect_state outline/filter active\nkey Tab");
  EXPECT_EQ(window_.host().registry().find("outline/filter")->state, "");
  EXPECT_NE(focused(), "outline/filter");
}

TEST_F(KeyboardFocus, GoesFromPanelToPanelWithF6AndItsKeysCount) {
  window_.run("click tab/nodes\nclick tab/barriers\nclick graph/barriers");
  for (int i = 0; i < 10; ++i) {
    window_.run("key F6");
    if (window_.host().registry().value("focus") == "barriers") {
      break;
    }
  }
  window_.run("key Down");
  EXPECT_EQ(window_.workspace().selection.current().node, 11U);  // of the costliest barrier
}

TEST_F(KeyboardFocus, MovesTheBarsBetweenPanels) {
  const auto left = [&] { return window_.host().registry().find("splitter/1")->visible.min_x; };
  for (int i = 0; i < 60 && focused() != "splitter/1"; ++i) {
    window_.run("key Tab");
  }
  ASSERT_EQ(focused(), "splitter/1");
  const float before = left();
  window_.run("key Right\nkey Right\nkey Left\nwait");
  EXPECT_EQ(left(), before + 20);
}

TEST_F(KeyboardFocus, GoesFromMenuToMenuWithLeftAndRight) {
  window_.run("key F10\nkey Right\nexpect_state menus/view focused\nkey Down\nwait");
  window_.run("expect_state menus/view/light_theme focused\nkey Right\nwait\n");
  window_.run("expect_state menus/go/back disabled\nabsent menus/view/light_theme");
  window_.run("key Left\nwait\nexpect_state menus/view/light_theme focused");
  window_.run("key Left\nwait\nkey Left\nwait\nexpect_state menus/help/command_palette focused");
}

TEST_F(KeyboardFocus, GoesIntoAMenuWithinAMenuAndOutOfIt) {
  window_.run("key F10\nkey Right\nkey Down\nkey Up\nkey Right\nwait");
  EXPECT_TRUE(focused().starts_with("menus/view/Timeline/")) << focused();
  window_.run("key Left\nwait");
  EXPECT_EQ(focused(), "menus/view/Timeline");
}

TEST_F(KeyboardFocus, MovesTheGraphAndTheTimeline) {
  const auto box = [&](const char* path) { return window_.host().registry().find(path)->visible; };
  window_.run("hover graph/canvas\nkey Home");
  const auto zoom = [&] { return window_.host().registry().value("graph/zoom"); };
  const std::string before = zoom();
  window_.run("key +\nkey +\nwait");
  EXPECT_NE(zoom(), before);
  const float node = box("graph/box/1").max_y;
  window_.run("key Shift+Up\nwait");
  EXPECT_GT(box("graph/box/1").max_y, node);
  window_.run("hover timeline/step/40\nkey +\nkey +\nwait");
  const float step = box("timeline/step/40").min_x;
  window_.run("key Shift+Right\nwait");
  EXPECT_LT(box("timeline/step/40").min_x, step);
}

TEST_F(KeyboardFocus, WalksAMenuAndChoosesInIt) {
  window_.run(
      "click outline/row/1\nkey F10\nexpect_state menus/file focused\nkey Enter\n"
      "expect_state menus/file/export_the_panel_as_csv focused\nkey Escape\n"
      "absent menus/file/picture_of_the_window");
  window_.run("key F10\nkey Tab\nexpect_state menus/view focused\nkey Enter\nkey Down\nkey Down");
  window_.run(
      "key Down\nexpect_state menus/view/layout_performance focused\nkey Enter\n"
      "absent menus/view/layout_performance\nexpect_state tab/statistics selected");
}

}  // namespace
}  // namespace reprise::debugger
