// Several nodes that are selected at once are marked wherever nodes are shown.
#include "debugger/model/format.h"
#include "debugger/views/graph_panel.h"
#include "debugger/views/inspector_panel.h"
#include "debugger/views/memory_panel.h"
#include "debugger/views/nodes_panel.h"
#include "debugger/views/outline_panel.h"
#include "tests/debugger/panel_window.h"
#include "tests/profile/sql.h"

namespace reprise::debugger {
namespace {

class SelectedNodes : public ::testing::Test {
 protected:
  template <class P>
  PanelWindow& show() {
    window_.emplace(database_.path(), std::make_unique<P>(),
                    HeadlessOptions{.width = 900, .height = 2400});
    window_->workspace().select_nodes({14, 3, 8, 3});
    window_->run("wait");
    return *window_;
  }
  /// Paths of widgets whose state says "selected".
  std::vector<std::string> selected(std::string_view prefix) {
    std::vector<std::string> found;
    for (const auto& [path, widget] : window_->host().registry().widgets()) {
      if (path.starts_with(prefix) && widget.state.starts_with("selected")) {
        found.push_back(path.substr(prefix.size()));
      }
    }
    return found;
  }

  SampleDatabase database_;
  std::optional<PanelWindow> window_;
};

TEST_F(SelectedNodes, AreRowsOfTheNodes) {
  show<NodesPanel>();
  EXPECT_THAT(selected("nodes/table/row/"), ::testing::UnorderedElementsAre("3", "8", "14"));
}

TEST_F(SelectedNodes, AreMarkedInTheGraphAlsoWhereTheyAreFolded) {
  show<GraphPanel>();
  EXPECT_EQ(selected("graph/box/").size(), 1U);  // the folded layers
  window_->run("key Shift+]\nkey Home");
  EXPECT_EQ(selected("graph/box/").size(), 3U);
}

TEST_F(SelectedNodes, AreSummedUpByTheInspector) {
  PanelWindow& window = show<InspectorPanel>();
  EXPECT_EQ(window.text("inspector/all/title"), "3 nodes");
  std::uint64_t sum = 0;
  for (const std::uint32_t node : {3U, 8U, 14U}) {
    sum += window.document().statistics().nodes[node]->p50_ns;
  }
  EXPECT_EQ(window.text("inspector/all/p50"), duration_text(sum));
  EXPECT_EQ(window.count("inspector/all/slowest/node/"), 3U);
  const std::string found = test::sql(database_.path(), window.panel().sql(window.workspace()));
  EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 2) << found;
}

TEST_F(SelectedNodes, HaveTheirMemoryMarked) {
  PanelWindow& window = show<MemoryPanel>();
  const std::size_t of_three = selected("memory/").size();
  window.workspace().select_node(3);
  window.run("wait");
  EXPECT_GT(of_three, selected("memory/").size());
}

TEST_F(SelectedNodes, AreMarkedInTheOutline) {
  show<OutlinePanel>();
  window_->run("key Shift+]");
  EXPECT_EQ(selected("outline/row/").size(), 3U);
}

TEST_F(SelectedNodes, OneAloneIsTheNode) {
  PanelWindow& window = show<NodesPanel>();
  window.workspace().select_nodes({7});
  EXPECT_EQ(window.workspace().selection.current(), (Selection{.node = 7, .item = {}}));
}

}  // namespace
}  // namespace reprise::debugger
