// Paths: diff/other, diff/path, diff/open, diff/<a, b>, diff/filter/<added, removed, changed,
// slower, faster, diverged, count>, diff/other_problem, and the table diff/table with columns
// change, node_a, node_b, op, scope, median_a, median_b, difference, ratio, probability, p95_a,
// p95_b, numbers, details and the row of the diff as id.
#include "debugger/views/diff_panel.h"

#include "reprise/sql_query.h"
#include "tests/debugger/debugger_window.h"
#include "tests/debugger/panel_window.h"
#include "tests/debugger/watched_database.h"
#include "tests/profile_cli/timed_database.h"

namespace reprise::debugger {
namespace {

using ::testing::HasSubstr;

constexpr HeadlessOptions kCentre{.width = 1500, .height = 400};

/// A file with a run of five nodes; the run on the screen is a later one of four, whose second node
/// is slower.
class DiffPanelTest : public ::testing::Test {
 protected:
  DiffPanelTest() {
    test::write_run(path_, {.label = "before", .replays = 40, .graph = {.scales = 2}});
    test::write_run(path_,
                    {.label = "after", .replays = 40, .step_ns = [](std::uint64_t, std::size_t s) {
                       return (s + 1) * (s == 1 ? 1500 : 1000);
                     }});
    window_.emplace(path_, std::make_unique<DiffPanel>(), kCentre);
  }
  void run(const std::string& script) { window_->run(script); }
  std::string text(std::string_view path) { return window_->text(path); }

  const test::TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "profile.db";
  std::optional<PanelWindow> window_;
};

TEST_F(DiffPanelTest, ComparesWithTheCaptureOfTheSameName) {
  EXPECT_THAT(text("diff/other"), HasSubstr("run 1"));
  EXPECT_THAT(text("diff/a"), HasSubstr("run 1 'before', commit "));
  EXPECT_THAT(text("diff/b"), HasSubstr("run 2 'after'"));
  EXPECT_EQ(window_->count("diff/table/row/"), 5U);
  EXPECT_EQ(text("diff/table/row/1/ratio"), "1.50");
  EXPECT_EQ(text("diff/table/row/1/difference"), "+1.00");
  EXPECT_EQ(text("diff/table/row/1/change"), "slower");
  EXPECT_EQ(text("diff/table/row/1/median_b"), "3.00");
  EXPECT_EQ(text("diff/table/row/1/probability"), "<0.001");
  EXPECT_EQ(text("diff/table/row/3/change"), "- removed");
  run("fits");
}

TEST_F(DiffPanelTest, ChipsLeaveTheirRows) {
  EXPECT_EQ(text("diff/filter/removed"), "removed 1");
  EXPECT_EQ(text("diff/filter/slower"), "slower 1");
  run("click diff/filter/removed");
  EXPECT_EQ(window_->count("diff/table/row/"), 1U);
  EXPECT_EQ(text("diff/filter/count"), "1 of 5");
  run("click diff/filter/slower\nexpect diff/filter/count 2 of 5\nclick diff/filter/removed\n"
      "click diff/filter/slower\nexpect diff/filter/count 5 of 5");
}

TEST_F(DiffPanelTest, HeadersSort) {
  const auto above = [&](int upper, int lower) {
    const auto row = [&](int id) {
      return window_->host().registry().find("diff/table/row/" + std::to_string(id))->visible.min_y;
    };
    return row(upper) < row(lower);
  };
  EXPECT_TRUE(above(3, 1));  // what A alone has took all of its time there
  EXPECT_TRUE(above(1, 0));
  run("click diff/table/header/difference\nexpect_state diff/table/header/difference ascending");
  EXPECT_TRUE(above(0, 1));
  EXPECT_TRUE(above(1, 3));
  run("click diff/table/header/node_b\nclick diff/table/header/node_b");
  EXPECT_TRUE(above(0, 1));
  run("click diff/table/header/median_a");
  EXPECT_TRUE(above(4, 0));
}

TEST_F(DiffPanelTest, ARowSelectsItsNodeIfTheCaptureShownHasIt) {
  run("click diff/table/row/1\nexpect_state diff/table/row/1 selected");
  EXPECT_EQ(window_->workspace().selection.current().node, 1U);
  run("click diff/table/row/3");
  EXPECT_EQ(window_->workspace().selection.current().node, 1U);
  EXPECT_EQ(window_->workspace().notice, "Only A has that node.");
}

TEST_F(DiffPanelTest, CopiesAQueryOfTheNodesOfBoth) {
  EXPECT_EQ(run_sql(path_, window_->panel().sql(window_->workspace())).rows.size(), 4U);
}

TEST_F(DiffPanelTest, OpensAnotherFile) {
  const std::filesystem::path other = folder_ / "other.db";
  test::write_run(other, {.label = "elsewhere", .graph = {.scales = 1}});
  run("type diff/path " + other.string() + "\nclick diff/open\nwait");
  EXPECT_THAT(text("diff/other"), HasSubstr("other.db"));
  EXPECT_THAT(text("diff/a"), HasSubstr("'elsewhere'"));
  run("type diff/path " + (folder_ / "absent.db").string() +
      "\nclick diff/open\nwait\nexpect diff/other_problem no such file");
}

TEST_F(DiffPanelTest, UpAndDownWalk) {
  run("click diff/table/row/1\nkey Down\nkey Up\nexpect_state diff/table/row/1 selected");
}

TEST_F(DiffPanelTest, TheLargestChangeComesFirstWithItsShare) {
  run("expect_state diff/table/header/difference descending");
  EXPECT_EQ(text("diff/table/row/1/share"), "+3.57");  // of 28 us
  EXPECT_EQ(text("diff/common"), "Most of B takes as long as A; 2 nodes changed notably");
}

TEST_F(DiffPanelTest, FitsTheMiddleOfAWindowOf1600Pixels) {
  PanelWindow middle(path_, std::make_unique<DiffPanel>(), {.width = 741, .height = 400});
  middle.run("fits\nabsent diff/table/sideways");
  EXPECT_NE(middle.text("diff/table/row/1/difference"), "(absent)");
}

TEST_F(DiffPanelTest, EnterInThePathOpensTheFile) {
  const std::filesystem::path other = folder_ / "other.db";
  test::write_run(other, {.label = "elsewhere", .graph = {.scales = 1}});
  run("type diff/path " + other.string() + "\nkey Enter\nwait\nexpect diff/a 'elsewhere'");
}

TEST_F(DiffPanelTest, AWrongPathLeavesWhatIsOnTheScreen) {
  run("type diff/path " + (folder_ / "absent.db").string() +
      "\nclick diff/open\nwait\nexpect diff/other_problem no such file");
  EXPECT_THAT(text("diff/a"), HasSubstr("run 1 'before'"));
  EXPECT_EQ(window_->count("diff/table/row/"), 5U);
}

TEST_F(DiffPanelTest, SaysWhenThereIsNothingToCompareWith) {
  const WatchedDatabase database;
  const PanelWindow window(database.path(), std::make_unique<DiffPanel>(), kCentre);
  EXPECT_EQ(window.text("diff/empty/what"), "There is no other capture to compare with.");
  EXPECT_THAT(window.text("diff/empty/call"), HasSubstr("--against"));
}

TEST_F(DiffPanelTest, LeavesTheRestUsableWhenTheOtherFileSaysAnything) {
  ASSERT_EQ(test::sql(path_,
                      "UPDATE nodes SET op = '%s##', attributes_json = '[[[' WHERE graph_id = 1; "
                      "UPDATE builds SET git_commit = char(27) || '%n', git_dirty = 'x'; UPDATE "
                      "runs SET label = '##' WHERE id = 1; UPDATE node_stats SET p50_ns = -1"),
            "");
  PanelWindow window(path_, std::make_unique<DiffPanel>(), kCentre);
  EXPECT_GT(window.count("diff/table/row/"), 4U);
  ASSERT_EQ(test::sql(path_, "DELETE FROM nodes WHERE graph_id = 1"), "");
  PanelWindow without(path_, std::make_unique<DiffPanel>(), kCentre);
  EXPECT_FALSE(without.host().registry().widgets().empty());
}

TEST_F(DiffPanelTest, TheFileOfTheCommandLineComesFirst) {
  const std::filesystem::path other = folder_ / "other.db";
  test::write_run(other, {.label = "elsewhere", .graph = {.scales = 1}});
  DebuggerView debugger(path_, {});
  debugger.compare_with(other);
  HeadlessHost host;
  const View view = debugger.view();
  ScriptRunner(host, view).run(parse_script("click tab/diff\nwait\nexpect diff/a 'elsewhere'"));
  EXPECT_THROW(debugger.compare_with(folder_ / "absent.db"), Error);
}

}  // namespace
}  // namespace reprise::debugger
