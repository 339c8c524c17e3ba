// Paths: passes/groups with columns pass, kind, decisions, applied; passes/filter/<all, applied,
// refused>; passes/count; passes/table with columns pass, kind, node, scope, applied, estimate,
// reason and the decision as row id.
#include "debugger/views/passes_panel.h"

#include "reprise/sql_query.h"
#include "tests/debugger/panel_window.h"
#include "tests/profile/sql.h"

namespace reprise::debugger {
namespace {

constexpr HeadlessOptions kBottom{.width = 1600, .height = 200};

class PassesPanelTest : public ::testing::Test {
 protected:
  PassesPanelTest() {
    EXPECT_EQ(test::sql(database_.path(),
                        "INSERT INTO pass_decisions VALUES"
                        "(2,'dead_nodes',0,'removed',3,1,'nothing reads q',NULL),"
                        "(2,'in_place',0,'shared',6,1,'q is not read again',NULL),"
                        "(2,'in_place',1,'shared',12,0,'add reads x later',NULL),"
                        "(2,'reorder',0,'order',NULL,1,'by memory',2500),"
                        "(2,'reorder',1,'moved',10,0,'it would cost memory',-700),"
                        "(1,'other',0,'removed',1,1,'of another graph',NULL)"),
              "");
    window_.emplace(database_.path(), std::make_unique<PassesPanel>(), kBottom);
  }
  void run(const std::string& script) { window_->run(script); }
  std::string text(std::string_view path) { return window_->text(path); }
  std::size_t rows() { return window_->count("passes/table/row/"); }

  SampleDatabase database_;
  std::optional<PanelWindow> window_;
};

TEST_F(PassesPanelTest, ShowsDecisionsWithTheirReasons) {
  EXPECT_EQ(rows(), 5U);
  EXPECT_EQ(text("passes/table/row/0"),
            "dead_nodes  removed  #3 matmul  layer.0/attn  yes    nothing reads q");
  EXPECT_EQ(text("passes/table/row/3"), "reorder  order      yes  2.50 \xC2\xB5s  by memory");
  EXPECT_EQ(text("passes/table/row/4"),
            "reorder  moved  #10 attention  layer.0/attn  no  -700 ns  it would cost memory");
  EXPECT_EQ(text("passes/count"), "5 of 5");
  run("fits");
}

TEST_F(PassesPanelTest, ARowHasAMenuAboutItsNode) {
  run("right passes/table/row/1\nclick passes/context/show_source_and_times");
  EXPECT_EQ(window_->workspace().wanted_panel, "inspector");
  EXPECT_EQ(window_->workspace().selection.current().node, 6U);
}

TEST_F(PassesPanelTest, UpAndDownWalkTheDecisions) {
  run("click passes/table/row/1\nkey Down\nexpect_state passes/table/row/2 selected\nkey Down\n"
      "expect_state passes/table/row/3 selected");
}

TEST_F(PassesPanelTest, CountsByPassAndKind) {
  EXPECT_EQ(window_->count("passes/groups/row/"), 4U);
  EXPECT_EQ(text("passes/groups/row/0"), "dead_nodes  removed  1  1");
  EXPECT_EQ(text("passes/groups/row/1"), "in_place  shared  2  1");
  EXPECT_EQ(text("passes/groups/row/2"), "reorder  moved  1  0");
  EXPECT_EQ(text("passes/groups/row/3"), "reorder  order  1  1");
}

TEST_F(PassesPanelTest, AGroupShowsItsDecisionsAndAgainAll) {
  run("click passes/groups/row/1\nexpect_state passes/groups/row/1 selected");
  EXPECT_EQ(rows(), 2U);
  EXPECT_EQ(text("passes/count"), "2 of 5");
  run("click passes/filter/refused");
  EXPECT_EQ(rows(), 1U);
  EXPECT_EQ(text("passes/table/row/2/reason"), "add reads x later");
  run("click passes/groups/row/1\nclick passes/filter/applied");
  EXPECT_EQ(text("passes/count"), "3 of 5");
}

TEST_F(PassesPanelTest, ARowSelectsItsNodeIfItHasOne) {
  run("click passes/table/row/2\nexpect_state passes/table/row/2 selected");
  EXPECT_EQ(window_->workspace().selection.current().node, 12U);
  run("click passes/table/row/3");
  EXPECT_EQ(window_->workspace().selection.current().node, 12U);
}

TEST_F(PassesPanelTest, CopiesAQueryWithARowForEveryDecision) {
  const auto found = run_sql(database_.path(), window_->panel().sql(window_->workspace())).rows;
  EXPECT_EQ(found.size(), 5U);
}

TEST(PassesPanel, SaysThatNothingWasDecided) {
  const SampleDatabase database;
  const PanelWindow window(database.path(), std::make_unique<PassesPanel>(), kBottom);
  EXPECT_EQ(window.text("passes/empty/what"), "No pass decided anything about this graph.");
}

}  // namespace
}  // namespace reprise::debugger
