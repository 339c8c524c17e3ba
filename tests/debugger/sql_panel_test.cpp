// Paths: sql/editor, sql/run, sql/cancel, sql/saved and its entries sql/saved/<i>, sql/status,
// sql/result/error, and the table sql/result/table with the position in the result as row id;
// sql/charted, sql/select_nodes, sql/result/chart/<x, y, kind/bars, kind/line, plot, empty>.
#include "debugger/views/sql_panel.h"

#include "debugger/views/inspector_panel.h"
#include "debugger/views/nodes_panel.h"
#include "debugger/views/replay_strip_panel.h"
#include "debugger/views/timeline_panel.h"
#include "tests/debugger/panel_window.h"
#include "tests/profile/sql.h"

namespace reprise::debugger {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class SqlPanelTest : public PanelTest<SqlPanel> {
 protected:
  SqlPanelTest() : PanelTest({.width = 1600, .height = 400}) {}
  void ask(const std::string& sql) { run("type sql/editor " + sql + "\nkey Ctrl+Enter\nwait"); }
  std::string row(std::size_t r) {
    return window_.text("sql/result/table/row/" + std::to_string(r));
  }
};

TEST_F(SqlPanelTest, CtrlEnterRunsWhatIsTyped) {
  ask("SELECT idx, op, NULL AS absent FROM nodes WHERE graph_id = 2 ORDER BY idx LIMIT 3");
  EXPECT_THAT(window_.text("sql/status"), StartsWith("3 rows, "));
  EXPECT_EQ(row(0), "0  plan  NULL");
  EXPECT_EQ(row(2), "2  rms_norm  NULL");
}

TEST_F(SqlPanelTest, MistakesAreShownInPlace) {
  ask("SELECT nonsense FROM nodes");
  EXPECT_THAT(window_.text("sql/result/error"), HasSubstr("nonsense"));
  EXPECT_EQ(window_.text("sql/status"), "failed");
  ask("DELETE FROM nodes");
  EXPECT_NE(window_.text("sql/result/error"), "(absent)");
  EXPECT_EQ(test::sql(database_.path(), "SELECT count(*) FROM nodes"), "182");
}

TEST_F(SqlPanelTest, ARowThatNamesANodeSelectsIt) {
  ask("SELECT 2 AS graph_id, 17 AS node");
  run("click sql/result/table/row/0\nexpect_state sql/result/table/row/0 selected");
  EXPECT_EQ(window_.workspace().selection.current().node, 17U);
}

TEST_F(SqlPanelTest, ARowHasAMenuAboutItsNode) {
  ask("SELECT 2 AS graph_id, 17 AS node");
  run("right sql/result/table/row/0\nclick sql/result/context/filter_nodes_by_this_op");
  EXPECT_EQ(window_.workspace().wanted_panel, "nodes");
  EXPECT_EQ(window_.workspace().selection.current().node, 17U);
}

TEST_F(SqlPanelTest, UpAndDownWalkTheRows) {
  ask("SELECT idx AS node FROM nodes WHERE graph_id = 2 ORDER BY idx");
  run("click sql/result/table/row/4\nkey Down\nexpect_state sql/result/table/row/5 selected");
  EXPECT_EQ(window_.workspace().selection.current().node, 5U);
}

TEST_F(SqlPanelTest, ARowOfAnotherGraphOrWithoutSuchANodeSelectsNothing) {
  for (const char* const sql : {"SELECT 1 AS graph_id, 17 AS node", "SELECT 91 AS node",
                                "SELECT -1 AS node", "SELECT 'x' AS node", "SELECT 17 AS other"}) {
    ask(sql);
    run("click sql/result/table/row/0");
    EXPECT_EQ(window_.workspace().selection.current(), Selection{}) << sql;
  }
}

TEST_F(SqlPanelTest, AHeaderSortsTheRows) {
  ask("SELECT idx, op FROM nodes WHERE graph_id = 2");
  run("click sql/result/table/header/idx");
  EXPECT_EQ(window_.text("sql/result/table/row/90/idx"), "90");
}

TEST_F(SqlPanelTest, MoreRowsThanTheLimitAreSaidToBeCut) {
  ask("SELECT a.idx FROM nodes a, nodes b");
  EXPECT_THAT(window_.text("sql/status"), StartsWith("the first 10,000 rows"));
}

TEST_F(SqlPanelTest, CancelEndsAQueryThatWouldTakeLong) {
  run("type sql/editor WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
      "SELECT sum(i) FROM n");
  Workspace& workspace = window_.workspace();
  workspace.queries.ask(workspace.reads, window_.panel().sql(workspace));
  EXPECT_TRUE(workspace.queries.running());
  workspace.queries.cancel();
  run("wait");
  EXPECT_FALSE(workspace.queries.running());
}

TEST_F(SqlPanelTest, AResultThatCameWhileItWasHiddenHasNoRowsToGoToYet) {
  ask("SELECT idx AS node FROM nodes");
  run("click sql/result/table/row/5");
  Workspace& workspace = window_.workspace();
  const auto leads_on = [&] {
    return std::ranges::any_of(window_.panel().actions(workspace), [](const Action& action) {
      return action.title == "Next row" && action.enabled;
    });
  };
  EXPECT_TRUE(leads_on());
  workspace.queries.ask(workspace.reads, "SELECT 1");
  workspace.settle();
  EXPECT_FALSE(leads_on());
}

TEST_F(SqlPanelTest, ManyColumnsScrollSideways) {
  ask("SELECT * FROM v_top_nodes");
  run("expect_state sql/editor active");
  ASSERT_NE(window_.text("sql/result/table/sideways"), "(absent)");
  const float before = window_.host().registry().find("sql/result/table/header/op")->visible.min_x;
  run("drag sql/result/table/sideways 0.1 0.5 0.3 0.5");
  EXPECT_LT(window_.host().registry().find("sql/result/table/header/op")->visible.min_x, before);
}

TEST_F(SqlPanelTest, EverySavedQueryRunsHereAndInAnySqliteClient) {
  for (const CaptureId id : {CaptureId{.run = 2, .graph = 2}, CaptureId{.run = 1, .graph = 1}}) {
    for (const SavedQuery& query : saved_queries(id)) {
      EXPECT_THAT(test::sql(database_.path(), query.sql), ::testing::Not(HasSubstr("error: ")))
          << query.name;
    }
  }
  run("click sql/saved\nclick sql/saved/1\nwait");
  EXPECT_THAT(row(0), StartsWith("matmul  36  "));
}

TEST_F(SqlPanelTest, RowsToNodesSelectsAllThatTheRowsName) {
  ask("SELECT 2 AS graph_id, idx AS node_id FROM nodes WHERE graph_id = 2 AND op = 'matmul'");
  run("click sql/select_nodes");
  const auto& nodes = window_.workspace().selection.current().nodes;
  ASSERT_EQ(nodes.size(), 36U);
  EXPECT_EQ(window_.document().capture()->nodes[nodes[35]].op, "matmul");
  run("expect_state sql/result/table/row/0 selected");
  ask("SELECT op FROM nodes");
  run("expect_state sql/select_nodes disabled");
  ask("SELECT 900 AS node");
  run("click sql/select_nodes");
  EXPECT_THAT(window_.workspace().notice, HasSubstr("No row names a node"));
}

TEST_F(SqlPanelTest, ChartsTwoColumns) {
  run("click sql/charted");
  ask("SELECT idx, op, flops FROM nodes WHERE graph_id = 2 ORDER BY idx");
  run("expect sql/result/chart/y flops\nexpect sql/result/chart/x idx\nfits");
  EXPECT_EQ(window_.host().registry().value("sql/result/chart/points"),
            test::sql(database_.path(), "SELECT count(flops) FROM nodes WHERE graph_id = 2"));
  run("click sql/result/chart/kind/line\nexpect_state sql/result/chart/kind/line on\nfits\n"
      "click sql/result/chart/x\nclick sql/result/chart/x/2\nexpect sql/result/chart/x op\nfits");
}

TEST_F(SqlPanelTest, APointOfTheChartTellsItsValueAndSelectsItsNode) {
  run("click sql/charted");
  ask("SELECT 2 AS graph_id, idx AS node, 10 - idx AS height FROM nodes WHERE graph_id = 2 AND idx"
      " < 10 ORDER BY idx");
  run("expect sql/result/chart/y height\nhover sql/result/chart/plot\nexpect tooltip height 6\n"
      "click sql/result/chart/plot");
  EXPECT_EQ(window_.workspace().selection.current().node, 4U);
}

TEST_F(SqlPanelTest, AChartOfAnythingIsDrawn) {
  run("click sql/charted");
  ask("SELECT 'a' AS name, NULL AS none");
  EXPECT_THAT(window_.text("sql/result/chart/empty"), HasSubstr("no column of numbers"));
  ask("SELECT 1.7e308 AS y UNION ALL SELECT -1.7e308 UNION ALL SELECT 9e999");
  run("click sql/result/chart/kind/line\nfits");
  EXPECT_THAT(window_.text("sql/result/chart/left_out"), HasSubstr("1 rows"));
  ask("SELECT 3 AS x, 0 AS y");
  run("fits\nclick sql/result/chart/kind/bars\nfits");
  ask("SELECT a.idx, b.idx AS y FROM nodes a, nodes b");
  run("fits");
}

/// The query of every panel, after something is selected, filtered and brushed.
TEST(PanelSql, OfEveryPanelRunsInAnySqliteClient) {
  const SampleDatabase database;
  const auto check = [&](std::unique_ptr<Panel> panel, const auto& prepare, std::size_t rows) {
    PanelWindow window(database.path(), std::move(panel), {.width = 1000, .height = 500});
    prepare(window.workspace());
    window.run("wait");
    const std::string sql = window.panel().sql(window.workspace());
    const std::string found = test::sql(database.path(), sql);
    EXPECT_THAT(found, ::testing::Not(HasSubstr("error: "))) << sql;
    const auto lines = static_cast<std::size_t>(std::count(found.begin(), found.end(), '\n'));
    EXPECT_EQ(found.empty() ? 0 : lines + 1, rows) << sql;
  };
  const auto nothing = [](Workspace&) {};
  const auto brush = [](Workspace& w) { w.document.set_range(ReplayRange{10, 19}); };
  check(std::make_unique<NodesPanel>(), nothing, 91);
  check(
      std::make_unique<NodesPanel>(), [](Workspace& w) { w.filter = "op:attention p50>1ns"; }, 5);
  check(std::make_unique<NodesPanel>(), brush, 91);
  check(std::make_unique<InspectorPanel>(), nothing, 1);
  check(
      std::make_unique<InspectorPanel>(), [](Workspace& w) { w.select_node(10); }, 1);
  check(
      std::make_unique<InspectorPanel>(),
      [](Workspace& w) {
        w.select({.node = {}, .item = w.scopes[w.scopes.item_of_node(10)].parent});
      },
      11);
  check(std::make_unique<TimelinePanel>(), nothing, 91);
  check(std::make_unique<ReplayStripPanel>(), nothing, 59);
  check(std::make_unique<ReplayStripPanel>(), brush, 10);
  check(std::make_unique<SqlPanel>(), nothing, 20);
}

TEST(PanelSql, OfABrushedRangeGivesTheTimesThatAreShown) {
  const SampleDatabase database;
  PanelWindow window(database.path(), std::make_unique<NodesPanel>(),
                     {.width = 1000, .height = 500});
  window.workspace().document.set_range(ReplayRange{10, 19});
  window.run("wait");
  std::string expected;
  for (const auto& timing : window.document().statistics().nodes) {
    expected += (expected.empty() ? "" : "\n") + std::to_string(timing->p50_ns) + "|" +
                std::to_string(timing->p95_ns) + "|" + std::to_string(timing->total_ns);
  }
  std::string sql = window.panel().sql(window.workspace());
  sql = "SELECT p50_ns, p95_ns, total_ns " + sql.substr(sql.find("\nFROM"));
  EXPECT_EQ(test::sql(database.path(), sql), expected);
}

}  // namespace
}  // namespace reprise::debugger
