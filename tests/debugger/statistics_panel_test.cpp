// Paths: statistics/by/<op, kernel, scope>, statistics/compare, statistics/replays,
// statistics/table with the columns name, nodes, count, p50, p95, p99, variation, share, bytes,
// flops, and while two ranges are compared count_b, p50_b, change, probability, p95_b, variation_b,
// share_b; rows are numbered in the order in which their first nodes were recorded.
#include "debugger/views/statistics_panel.h"

#include <set>

#include "debugger/model/format.h"
#include "tests/debugger/panel_window.h"
#include "tests/profile/sql.h"

namespace reprise::debugger {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class StatisticsPanelTest : public PanelTest<StatisticsPanel> {
 protected:
  StatisticsPanelTest() : PanelTest({.width = 1600, .height = 420}) {}
  std::string row(std::size_t group) {
    return window_.text("statistics/table/row/" + std::to_string(group));
  }
  std::string cell(std::size_t group, const std::string& column) {
    return window_.text("statistics/table/row/" + std::to_string(group) + "/" + column);
  }
  std::size_t rows() { return window_.count("statistics/table/row/"); }
  void brush(std::size_t first, std::size_t last) {
    window_.workspace().document.set_range(ReplayRange{first, last});
    run("wait");
  }
  const Capture& capture() { return *window_.document().capture(); }
};

TEST_F(StatisticsPanelTest, GroupsByOpKernelAndScope) {
  std::set<std::string> ops, scopes;
  for (const Capture::Node& node : capture().nodes) {
    ops.insert(node.op);
    scopes.insert(node.scope);
  }
  EXPECT_EQ(rows(), ops.size());
  EXPECT_THAT(row(3), StartsWith("matmul  36  58  "));
  run("click statistics/by/scope");
  EXPECT_EQ(rows(), scopes.size());
  EXPECT_EQ(cell(0, "name"), "(outside of scopes)");
  run("click statistics/by/kernel\nexpect_state statistics/by/kernel on");
  EXPECT_THAT(row(3), StartsWith("matmul.f32  36  58  "));
  run("fits");
}

/// The median over all replays of what one spends in all of its products.
TEST_F(StatisticsPanelTest, AgreesWithTheDatabase) {
  for (const bool brushed : {false, true}) {
    if (brushed) {
      brush(10, 30);
    }
    const std::string found = test::sql(
        database_.path(), "SELECT p50_ns || '|' || p99_ns || '|' || replays FROM (" +
                              window_.panel().sql(window_.workspace()) + ") WHERE name = 'matmul'");
    const auto first = found.find('|'), second = found.rfind('|');
    EXPECT_EQ(cell(3, "count"), found.substr(second + 1));
    EXPECT_EQ(cell(3, "count"), brushed ? "21" : "58");
    EXPECT_THAT(duration_text(std::stoull(found.substr(0, first))), StartsWith(cell(3, "p50")));
    EXPECT_THAT(duration_text(std::stoull(found.substr(first + 1, second - first - 1))),
                StartsWith(cell(3, "p99")));
  }
}

TEST_F(StatisticsPanelTest, SharesAddUpToAll) {
  const std::string found =
      test::sql(database_.path(), "SELECT round(sum(share), 6), sum(nodes) FROM (" +
                                      window_.panel().sql(window_.workspace()) + ")");
  EXPECT_EQ(found, "1.0|91");
}

TEST_F(StatisticsPanelTest, ARowSelectsItsNodes) {
  run("click statistics/table/row/3\nexpect_state statistics/table/row/3 selected");
  const auto& selected = window_.workspace().selection.current().nodes;
  EXPECT_EQ(selected.size(), 36U);
  for (const std::uint32_t node : selected) {
    EXPECT_EQ(capture().nodes[node].op, "matmul");
  }
}

TEST_F(StatisticsPanelTest, AHeaderSorts) {
  const auto top_of = [&](std::size_t group) {
    return window_.host()
        .registry()
        .find("statistics/table/row/" + std::to_string(group))
        ->visible.min_y;
  };
  run("click statistics/table/header/nodes");
  EXPECT_LT(top_of(3), top_of(0));
  run("click statistics/table/header/nodes");
  EXPECT_GT(top_of(3), top_of(0));
}

TEST_F(StatisticsPanelTest, ComparesTwoRanges) {
  brush(1, 29);
  const std::string before = cell(3, "p50");
  run("click statistics/compare");
  EXPECT_THAT(window_.text("statistics/replays"), HasSubstr("A: replays 1 to 29, 29 timed"));
  EXPECT_EQ(cell(3, "change"), "0.00 %");
  brush(30, 58);
  EXPECT_EQ(cell(3, "p50"), before);
  EXPECT_THAT(window_.text("statistics/replays"), HasSubstr("B: replays 30 to 58, 29 timed"));
  EXPECT_THAT(cell(3, "change"), HasSubstr(" %"));
  EXPECT_NE(cell(3, "change"), "0.00 %");
  EXPECT_NE(cell(3, "probability"), "too few");
  run("fits");
  run("click statistics/compare");
  EXPECT_EQ(cell(3, "change"), "(absent)");
  EXPECT_THAT(window_.text("statistics/replays"), HasSubstr("replays 30 to 58"));
}

TEST_F(StatisticsPanelTest, SaysThatAFewReplaysProveNothing) {
  brush(1, 10);
  run("click statistics/compare");
  brush(11, 58);
  EXPECT_EQ(cell(3, "probability"), "too few");
}

TEST_F(StatisticsPanelTest, TheQueryHasBothRanges) {
  brush(1, 29);
  run("click statistics/compare");
  brush(30, 50);
  const std::string found = test::sql(
      database_.path(), "SELECT range, replays FROM (" + window_.panel().sql(window_.workspace()) +
                            ") WHERE name = 'matmul'");
  EXPECT_EQ(found, "A|29\nB|21");
}

TEST(StatisticsPanel, WithoutNodeTimesItNamesTheCall) {
  const SampleDatabase database;
  PanelWindow window(database.path(), std::make_unique<StatisticsPanel>(),
                     {.width = 1000, .height = 230});
  window.workspace().document.choose({.run = 1, .graph = 1});
  window.run("wait\nfits");
  EXPECT_THAT(window.text("statistics/empty/call"), HasSubstr("TimingMode::node"));
}

}  // namespace
}  // namespace reprise::debugger
