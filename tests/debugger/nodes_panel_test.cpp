// Paths: nodes/filter, nodes/count, nodes/problem, nodes/no-times, and the table nodes/table with
// columns index, op, scope, p50, p95, share, barrier, kernel, source and the node as row id.
#include "debugger/views/nodes_panel.h"

#include "tests/debugger/panel_window.h"

namespace reprise::debugger {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class NodesPanelTest : public PanelTest<NodesPanel> {
 protected:
  /// The nodes of the rows in sight, from the top.
  std::vector<std::uint32_t> rows() {
    std::map<float, std::uint32_t> by_place;
    constexpr std::string_view kRows = "nodes/table/row/";
    for (const auto& [path, widget] : window_.host().registry().widgets()) {
      if (path.starts_with(kRows) && path.find('/', kRows.size()) == std::string::npos) {
        by_place[widget.visible.min_y] =
            static_cast<std::uint32_t>(std::stoul(path.substr(kRows.size())));
      }
    }
    std::vector<std::uint32_t> nodes;
    for (const auto& [place, node] : by_place) {
      nodes.push_back(node);
    }
    return nodes;
  }
};

TEST_F(NodesPanelTest, ShowsTheFirstNodesInRecordedOrderAndNothingOutOfSight) {
  EXPECT_EQ(window_.text("nodes/count"), "91 of 91");
  EXPECT_EQ(rows().front(), 0U);
  EXPECT_EQ(rows().back(), rows().size() - 1);
  EXPECT_LT(rows().size(), 25U);
  EXPECT_THAT(window_.text("nodes/table/row/10"), StartsWith("10  attention  layer.0/attn  "));
  EXPECT_EQ(window_.text("nodes/table/row/10/source"), "forward.cpp:39");
}

TEST_F(NodesPanelTest, TheFilterLeavesThoseThatPass) {
  run("type nodes/filter op:attention\nexpect nodes/count 5 of 91");
  EXPECT_EQ(rows(), (std::vector<std::uint32_t>{10, 27, 44, 61, 78}));
}

TEST_F(NodesPanelTest, AFilterThatIsNotUnderstoodSaysWhyAndKeepsTheRows) {
  window_.workspace().filter = "op:attention";
  run("wait");
  window_.workspace().filter += " p95>10";
  run("wait");
  EXPECT_EQ(window_.text("nodes/problem"), "At character 20: p95 needs a unit: ns, us, µs, ms, s.");
  EXPECT_EQ(window_.text("nodes/count"), "5 of 91");
}

TEST_F(NodesPanelTest, AHeaderSortsAndAgainTheOtherWay) {
  const auto p95 = [&](std::uint32_t node) {
    return window_.document().statistics().nodes[node]->p95_ns;
  };
  run("click nodes/table/header/p95\nexpect_state nodes/table/header/p95 descending");
  std::vector<std::uint32_t> nodes = rows();
  EXPECT_TRUE(std::is_sorted(nodes.begin(), nodes.end(),
                             [&](std::uint32_t a, std::uint32_t b) { return p95(a) > p95(b); }));
  run("click nodes/table/header/p95\nexpect_state nodes/table/header/p95 ascending");
  nodes = rows();
  EXPECT_TRUE(std::is_sorted(nodes.begin(), nodes.end(),
                             [&](std::uint32_t a, std::uint32_t b) { return p95(a) < p95(b); }));
  run("click nodes/table/header/op");
  EXPECT_EQ(window_.text("nodes/table/row/" + std::to_string(rows().front()) + "/op"), "add");
}

TEST_F(NodesPanelTest, AClickSelectsAndTheArrowKeysGoOnInTheRowsShown) {
  run("type nodes/filter op:attention\nclick nodes/table/row/27\n"
      "expect_state nodes/table/row/27 selected\nkey Escape\nkey Down");
  EXPECT_EQ(window_.workspace().selection.current().node, 44U);
  EXPECT_TRUE(window_.workspace().reveal);
  run("key Up\nkey Up\nkey Up");
  EXPECT_EQ(window_.workspace().selection.current().node, 10U);
}

TEST_F(NodesPanelTest, ScrollsToWhatIsSelectedElsewhere) {
  run("absent nodes/table/row/85");
  window_.workspace().select_node(85);
  run("wait\nexpect_state nodes/table/row/85 selected");
}

TEST_F(NodesPanelTest, AFilterWithoutAMatchSaysSo) {
  run("type nodes/filter op:nothing\nexpect nodes/table/none (op:nothing)");
  run("type nodes/filter op:matmul\nabsent nodes/table/none");
}

TEST_F(NodesPanelTest, TheEndOfAColumnIsDraggedAndADoubleClickGivesItsWidthBack) {
  const auto width = [&] {
    const Rect seen = window_.host().registry().find("nodes/table/header/op")->visible;
    return seen.max_x - seen.min_x;
  };
  const float own = width();
  run("drag nodes/table/edge/op 0.5 0.5 6 0.5\nwait");
  EXPECT_GT(width(), own + 20);
  run("double nodes/table/edge/op\nwait");
  EXPECT_EQ(width(), own);
}

TEST_F(NodesPanelTest, ARightClickAsksWhatToDoWithTheNode) {
  run("right nodes/table/row/3\nexpect nodes/context/copy Copy\n"
      "click nodes/context/filter_nodes_by_this_op\nexpect nodes/filter op:matmul");
  EXPECT_EQ(window_.workspace().selection.current().node, 3U);
  run("right nodes/table/row/3\nclick nodes/context/show_in_timeline");
  EXPECT_EQ(window_.workspace().wanted_panel, "timeline");
}

TEST_F(NodesPanelTest, KeysBringTheirRowIntoSight) {
  run("click nodes/table/row/3\nkey PageDown\nkey PageDown\nexpect_state nodes/table/row/43 "
      "selected");
  EXPECT_GT(window_.host().registry().find("nodes/table/row/43")->visible.max_y, 0);
}

TEST_F(NodesPanelTest, WithoutNodeTimesItNamesTheCallInsteadOfEmptyColumns) {
  window_.workspace().document.choose({.run = 1, .graph = 1});
  run("wait\nabsent nodes/table/header/p50\nabsent nodes/table/header/share");
  EXPECT_THAT(window_.text("nodes/no-times"), HasSubstr("TimingMode::node"));
}

class NarrowNodesPanelTest : public PanelTest<NodesPanel> {
 protected:
  NarrowNodesPanelTest() : PanelTest({.width = 390, .height = 500}) {}
};

TEST_F(NarrowNodesPanelTest, LeavesColumnsOutInsteadOfCuttingThem) {
  run("fits\nabsent nodes/table/sideways\nabsent nodes/table/header/kernel");
  EXPECT_EQ(window_.text("nodes/table/header/share"), "p50 share");
}

}  // namespace
}  // namespace reprise::debugger
