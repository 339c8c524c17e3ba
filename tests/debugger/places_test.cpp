// Panels are moved, closed and opened again, by the mouse and by commands.
#include "debugger/views/places.h"

#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "tests/debugger/debugger_window.h"

namespace reprise::debugger {
namespace {

class PanelsOfTheWindow : public ::testing::Test {
 protected:
  /// Drags a tab to a point of a widget, in shares of its box.
  static std::string drag(const std::string& tab, const Rect& from, const Rect& to, float x,
                          float y) {
    const auto share = [](float at, float min, float max) {
      return " " + std::to_string((at - min) / (max - min));
    };
    return "drag tab/" + tab + " 0.5 0.5" +
           share(std::lerp(to.min_x, to.max_x, x), from.min_x, from.max_x) +
           share(std::lerp(to.min_y, to.max_y, y), from.min_y, from.max_y) + "\nwait\n";
  }
  void drag_tab(const std::string& tab, const std::string& onto, float x, float y) {
    window_.run(drag(tab, place("tab/" + tab), place(onto), x, y));
  }
  Rect place(const std::string& path) {
    const Widget* const widget = window_.host().registry().find(path);
    EXPECT_NE(widget, nullptr) << path;
    return widget == nullptr ? Rect() : widget->visible;
  }
  const SampleDatabase database_;
  DebuggerWindow window_{database_.path()};
};

TEST_F(PanelsOfTheWindow, GoAmongTheTabsOfAnotherPlace) {
  drag_tab("nodes", "tab/kernels", 0.1F, 0.5F);
  EXPECT_EQ(place("tab/nodes").min_x, place("tab/graph").max_x);
  EXPECT_EQ(place("tab/nodes").max_x, place("tab/kernels").min_x);
  window_.run("expect_state tab/nodes selected\nfits");
}

TEST_F(PanelsOfTheWindow, GoBesideEachOther) {
  drag_tab("nodes", "graph/canvas", 0.9F, 0.5F);
  EXPECT_GT(place("tab/nodes").min_x, place("tab/graph").max_x);
  EXPECT_EQ(place("tab/nodes").min_y, place("tab/graph").min_y);
  window_.run("expect_state tab/nodes selected\nexpect_state tab/graph selected\nfits");
}

TEST_F(PanelsOfTheWindow, GoBelowEachOther) {
  const float bottom = place("graph/canvas").max_y;
  drag_tab("kernels", "graph/canvas", 0.5F, 0.95F);
  EXPECT_GT(place("tab/kernels").min_y, place("tab/graph").max_y);
  EXPECT_LT(place("tab/kernels").max_y, bottom);
  window_.run("fits");
}

TEST_F(PanelsOfTheWindow, StayWhereTheyAreIfTheTabIsDroppedNowhere) {
  drag_tab("nodes", "header/replays", 0.5F, 0.5F);
  window_.run("expect_state tab/outline selected");
  EXPECT_EQ(place("tab/nodes").min_x, place("tab/outline").max_x);
}

TEST_F(PanelsOfTheWindow, StayWhereTheyAreAfterEscape) {
  const auto middle = [&](const std::string& path) {
    const Rect box = place(path);
    return ImVec2{(box.min_x + box.max_x) / 2, (box.min_y + box.max_y) / 2};
  };
  window_.host().mouse().move(middle("tab/nodes"));
  window_.run("wait");
  window_.host().mouse().press(ImGuiMouseButton_Left, true);
  window_.run("wait");
  window_.host().mouse().move(middle("graph/canvas"));
  window_.run("wait\nkey Escape\nwait");
  window_.host().mouse().press(ImGuiMouseButton_Left, false);
  window_.run("wait");
  EXPECT_EQ(place("tab/nodes").min_x, place("tab/outline").max_x);
}

TEST_F(PanelsOfTheWindow, AreClosedAndOpenedAgain) {
  window_.run(
      "hover graph/canvas\nkey Ctrl+W\nabsent tab/graph\nexpect_state tab/kernels selected\n"
      "key Ctrl+P\ntype palette/text graph show the panel\nkey Enter\nwait\n"
      "expect_state tab/graph selected");
  EXPECT_GT(place("tab/graph").min_x, place("tab/diff").min_x);
}

TEST_F(PanelsOfTheWindow, GiveTheirRoomToTheOthersWhenTheLastOfAPlaceIsClosed) {
  const float before = place("tab/inspector").min_x;
  window_.run(
      "click menu/inspector/open\nclick menu/inspector/open/close\n"
      "click menu/tensors/open\nclick menu/tensors/open/close\nwait\nabsent tab/tensors\nfits");
  EXPECT_GT(place("graph/canvas").max_x, before);
}

TEST_F(PanelsOfTheWindow, AreMovedByCommands) {
  window_.run(
      "click tab/nodes\nhover nodes/count\nkey Ctrl+P\ntype palette/text move next place\n"
      "key Enter\nwait\nexpect_state tab/nodes selected\nexpect_state tab/outline selected");
  EXPECT_EQ(place("tab/nodes").min_x, place("tab/diff").max_x);
}

TEST_F(PanelsOfTheWindow, ComeBackWithTheLayout) {
  drag_tab("nodes", "graph/canvas", 0.9F, 0.5F);
  window_.run("key Ctrl+P\ntype palette/text reset layout\nkey Enter\nwait");
  EXPECT_EQ(place("tab/nodes").min_x, place("tab/outline").max_x);
}

TEST_F(PanelsOfTheWindow, AreKeptInLayoutsThatGetNames) {
  window_.run(
      "key Ctrl+P\ntype palette/text new layout\nkey Enter\nwait\ntype layout/name Inspect\n"
      "expect layout/problem There is a layout\ntype layout/name Mine\nkey Enter\nwait\n"
      "absent layout/name");
  drag_tab("nodes", "graph/canvas", 0.9F, 0.5F);
  window_.run("key Ctrl+Alt+1\nwait");
  EXPECT_EQ(place("tab/nodes").min_x, place("tab/outline").max_x);
  window_.run("key Ctrl+Alt+5\nwait");
  EXPECT_GT(place("tab/nodes").min_x, place("tab/graph").max_x);
  window_.run(
      "key Ctrl+P\ntype palette/text delete layout mine\nkey Enter\nwait\nkey Ctrl+Alt+5\nwait");
  EXPECT_EQ(place("tab/nodes").min_x, place("tab/outline").max_x);
}

TEST_F(PanelsOfTheWindow, AreThoseOfTheLayouts) {
  std::vector<std::string> panels;
  const Layout usual = usual_layouts().front();
  for (const Place* place : tab_places(usual.all)) {
    panels.insert(panels.end(), place->panels.begin(), place->panels.end());
  }
  for (const std::string& panel : panels) {
    window_.run("click tab/" + panel + "\nexpect_state tab/" + panel + " selected");
  }
}

}  // namespace
}  // namespace reprise::debugger
