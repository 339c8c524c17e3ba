// What can be asked of the window from anywhere: by keys, the palette, menus and bookmarks.
#include <fstream>
#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "tests/debugger/debugger_window.h"
#include "tests/debugger/panel_window.h"

namespace reprise::debugger {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WindowActions : public ::testing::Test {
 protected:
  /// The text of a widget; "(absent)".
  std::string text(std::string_view path) {
    const Widget* widget = window_.host().registry().find(path);
    return widget == nullptr ? "(absent)" : widget->text;
  }
  const SampleDatabase database_;
  DebuggerWindow window_{database_.path()};
};

TEST_F(WindowActions, AreFoundInThePaletteByWordsOfTheirTitles) {
  window_.run(
      "key Ctrl+P\ntype palette/text FRAME graph\nexpect palette/list/row/0 Graph: Frame the "
      "selection");
  EXPECT_EQ(text("palette/list/row/1"), "Graph: Frame the whole graph");
  EXPECT_EQ(text("palette/list/row/2"), "(absent)");
}

TEST_F(WindowActions, RunFromThePaletteByKeysAndByTheMouse) {
  window_.run(
      "key Ctrl+P\ntype palette/text layout\nkey Down\nexpect_state palette/list/row/1 selected\n"
      "key Enter\nabsent palette/text\nexpect_state tab/nodes selected\n"
      "key Ctrl+P\ntype palette/text show memory\nclick palette/list/row/0\n"
      "expect_state tab/memory selected");
}

TEST_F(WindowActions, InThePaletteStayInSightWhileKeysWalk) {
  std::string down;
  for (int i = 0; i < 30; ++i) {
    down += "key Down\n";
  }
  window_.run("key Ctrl+P\n" + down + "expect_state palette/list/row/30 selected");
  const Rect row = window_.host().registry().find("palette/list/row/30")->visible;
  EXPECT_GT(row.max_y - row.min_y, 20);
}

TEST_F(WindowActions, OfAPanelBehindAnotherShowItFirst) {
  window_.run(
      "click tab/sql\nclick tab/memory\nkey Ctrl+P\ntype palette/text sql run\nkey "
      "Enter\nexpect_state tab/sql selected");
}

/// Panels list their rows when they are drawn: while they are hidden, they have those of the
/// capture that was shown last.
TEST_F(WindowActions, OfAPanelBehindAnotherLeadToNoRowOfThePreviousCapture) {
  window_.run(
      "click tab/memory\nclick tab/barriers\nclick tab/statistics\nclick tab/timeline\n"
      "click tab/kernels\nclick tab/graph\nclick tab/nodes\nclick tab/outline\n"
      "click header/capture\nclick header/capture/1\nwait\nclick menus/view");
  for (const std::string row : {"Memory/next_place", "Barriers/next_barrier", "Nodes/next_node",
                                "Statistics/next_group", "Kernels/next_kernel"}) {
    window_.run("hover menus/view/" + row.substr(0, row.find('/')) + "\nexpect_state menus/view/" +
                row + " disabled");
  }
}

TEST_F(WindowActions, OfAnOutlineBehindAnotherPanelLeadToNoRowOfThePreviousCapture) {
  window_.run(
      "click tab/nodes\nclick header/capture\nclick header/capture/1\nwait\n"
      "click menus/view\nhover menus/view/Outline\n"
      "expect_state menus/view/Outline/next_scope_or_node disabled");
}

TEST_F(WindowActions, AreNotTakenWhileThePaletteIsTypedInto) {
  window_.run("click outline/row/1\nkey Ctrl+P\nkey Escape\nabsent palette/text");
  const Selection before = window_.workspace().selection.current();
  window_.run("key Ctrl+P\ntype palette/text ]]\nkey Down\nkey Escape");
  EXPECT_EQ(window_.workspace().selection.current(), before);
}

TEST_F(WindowActions, StandOnTheSheetOfKeys) {
  window_.run(
      "key F1\nexpect keys/left/File/title File\nfits\nkey Escape\nabsent "
      "keys/left/File/title\n"
      "key Shift+/\nexpect keys/left/File/title File");
}

TEST_F(WindowActions, OfTheMouseStandOnTheSheetOfKeys) {
  window_.run(
      "key F1\nexpect \"keys/left/Go/mouse/0/how\" Ctrl+1 to Ctrl+9\n"
      "expect keys/left/Replays/mouse/1/does Choose a range\nexpect status/hint F1");
}

TEST_F(WindowActions, StandInTheMenuBarWithTheirKeys) {
  window_.run(
      "click menus/view\nexpect menus/view/layout_memory/key Ctrl+Alt+4\n"
      "click menus/view/layout_memory\nabsent menus/view/layout_memory\n"
      "expect_state tab/memory selected\nfits");
}

TEST_F(WindowActions, OfAPanelStandInAMenuOfItsOwn) {
  window_.run(
      "click menus/view\nhover menus/view/Outline\nhover menus/view/Graph\n"
      "absent menus/view/Outline/show_the_panel\nfits\n"
      "click menus/view/Graph/colour_by_the_next_quantity\nabsent menus/view/Graph");
  EXPECT_EQ(window_.workspace().colour_by, ColourBy::op);
}

TEST_F(WindowActions, OfTheMenuBarAreThoseOfThePalette) {
  window_.run("click outline/row/3\nkey Ctrl+B\nkey Ctrl+P");
  std::size_t in_palette = 0;
  while (text("palette/list/row/" + std::to_string(in_palette)) != "(absent)") {
    ++in_palette;
  }
  window_.run("key Escape");
  std::size_t in_menus = 0;
  const auto count = [&](const std::string& menu) {
    std::vector<std::string> submenus;
    for (const auto& [path, widget] : window_.host().registry().widgets()) {
      if (!path.starts_with(menu + "/") || path.find('/', menu.size() + 1) != std::string::npos) {
        continue;
      }
      if (widget.state == "menu") {
        submenus.push_back(path);
      } else {
        in_menus += widget.state == "disabled" ? 0U : 1U;
      }
    }
    return submenus;
  };
  for (const char* const menu : {"menus/file", "menus/view", "menus/go", "menus/help"}) {
    window_.run("click " + std::string(menu));
    for (const std::string& submenu : count(menu)) {
      window_.run("hover " + submenu);
      EXPECT_TRUE(count(submenu).empty());
    }
    window_.run("key Escape");
  }
  EXPECT_EQ(in_menus, in_palette);
}

TEST_F(WindowActions, CopyTheSelectedNode) {
  ImGui::SetClipboardText("nothing");
  window_.run("click tab/nodes\nclick nodes/table/row/3\nkey Ctrl+C");
  EXPECT_THAT(ImGui::GetClipboardText(), ::testing::StartsWith("#3 matmul  layer.0/attn"));
}

TEST_F(WindowActions, OfTheSelectionShowAnotherPanel) {
  window_.run(
      "click tab/nodes\nright nodes/table/row/3\nclick nodes/context/show_in_memory\n"
      "expect_state tab/memory selected");
}

TEST_F(WindowActions, WithTheKeyOfSeveralPanelsAreOfTheOneUnderTheMouse) {
  window_.run(
      "click tab/barriers\nclick barriers/table/header/step\nclick barriers/table/header/step\n"
      "click barriers/table/row/3\nkey Down\nwait");
  const auto& capture = *window_.workspace().document.capture();
  EXPECT_EQ(window_.workspace().selection.current().node,
            capture.steps[capture.barriers[4].before_step].node);
}

TEST_F(WindowActions, OfALayoutShowItsPanels) {
  window_.run(
      "key Ctrl+Alt+4\nexpect_state tab/memory selected\nkey Ctrl+Alt+2\n"
      "expect_state tab/nodes selected\nexpect_state tab/statistics selected\nfits");
}

TEST_F(WindowActions, OfALayoutBringBackWhatWasChangedInIt) {
  window_.run(
      "click tab/barriers\nkey Ctrl+Alt+4\nexpect_state tab/memory selected\nkey Ctrl+Alt+1\n"
      "expect_state tab/barriers selected");
}

TEST_F(WindowActions, ResetALayoutToWhatItWas) {
  const auto left = [&] { return window_.host().registry().find("splitter/1")->visible.min_x; };
  const float before = left();
  window_.run("click tab/barriers\ndrag splitter/1 0.5 0.5 20.5 0.5\nwait");
  ASSERT_GT(left(), before);
  window_.run(
      "key Ctrl+P\ntype palette/text reset layout\nkey Enter\nwait\n"
      "expect_state tab/timeline selected");
  EXPECT_EQ(left(), before);
}

TEST_F(WindowActions, OfBookmarksGoBackToTheirPlaces) {
  window_.run(
      "click outline/row/3\nkey Ctrl+B\nexpect status/notice Bookmarked\n"
      "click tab/nodes\nclick nodes/table/row/15\nkey Ctrl+B");
  EXPECT_EQ(window_.workspace().bookmarks.all().size(), 2U);
  window_.run("key Ctrl+1");
  EXPECT_FALSE(window_.workspace().selection.current().node);
  window_.run("click header/bookmarks\nclick header/bookmarks/2");
  EXPECT_EQ(window_.workspace().selection.current().node, 15U);
  window_.run("key Ctrl+B\nexpect status/notice Removed");
  EXPECT_EQ(window_.workspace().bookmarks.all().size(), 1U);
}

TEST_F(WindowActions, OfThemesChangeEveryColour) {
  const auto background = [&] { return window_.host().picture().rgba[0]; };
  const auto dark = background();
  window_.run("key Ctrl+Shift+L\nwait");
  EXPECT_GT(background(), dark + 100);
}

class Exports : public WindowActions {
 protected:
  Exports() { std::filesystem::current_path(folder_ / ""); }
  ~Exports() override { std::filesystem::current_path(before_); }
  static std::string read(const char* file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  const std::filesystem::path before_ = std::filesystem::current_path();
  const test::TempFolder folder_;
};

TEST_F(Exports, OfTablesAreCsvWithALinePerRow) {
  window_.run(
      "click tab/nodes\nclick menu/nodes/open\nclick menu/nodes/open/csv\nwait\n"
      "expect status/notice nodes.csv");
  const std::string csv = read("nodes.csv");
  EXPECT_THAT(csv,
              ::testing::StartsWith("node,op,scope,p50_us,p95_us,pct,barrier,kernel,source\n"));
  EXPECT_EQ(std::ranges::count(csv, '\n'), 92);  // 91 nodes
}

TEST_F(Exports, ThatFailLeaveNoFileAndSayWhy) {
  window_.run(
      "click tab/sql\ntype sql/editor SELECT x FROM nowhere\nclick menu/sql/open\n"
      "click menu/sql/open/csv\nwait\nexpect status/notice nowhere");
  EXPECT_EQ(folder_.files(), 0U);
}

TEST_F(Exports, OfPicturesAreSvgWithTheirTexts) {
  window_.run(
      "click menu/outline/open\nclick menu/outline/open/svg\nexpect status/notice outline.svg");
  const std::string svg = read("outline.svg");
  for (const char* text : {">layer.*</text>", ">p50 sum</text>", ">89.1 %</text>"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
  EXPECT_THAT(svg, ::testing::Not(HasSubstr(">Inspector<")));
  EXPECT_THAT(svg, ::testing::EndsWith("</svg>\n"));
}

}  // namespace
}  // namespace reprise::debugger
