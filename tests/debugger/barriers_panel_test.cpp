// Paths: barriers/filter/<all, RAW, WAR, WAW, missing, redundant>, barriers/counts, and the table
// barriers/table with columns index, cost, before, after, critical, step, node, cause, kind,
// emitted, tensors, size, reason and the barrier as row id; barriers/context/<action>.
#include "debugger/views/barriers_panel.h"

#include "debugger/model/format.h"
#include "reprise/sql_query.h"
#include "tests/debugger/panel_window.h"
#include "tests/profile/sql.h"

namespace reprise::debugger {
namespace {

constexpr HeadlessOptions kBarriersSize{.width = 1600, .height = 200};
constexpr const char* kByStep =
    "click barriers/table/header/step\nclick barriers/table/header/step";

/// Barrier 1 is missing, barrier 2 redundant and of another kind.
class BarriersPanelTest : public ::testing::Test {
 protected:
  BarriersPanelTest() {
    EXPECT_EQ(test::sql(database_.path(),
                        "UPDATE barriers SET emitted = 0 WHERE graph_id = 2 AND ordinal = 1; "
                        "UPDATE barriers SET required = 0, kind = 'WAR' WHERE graph_id = 2 AND "
                        "ordinal = 2"),
              "");
    window_.emplace(database_.path(), std::make_unique<BarriersPanel>(), kBarriersSize);
    run(kByStep);
  }
  void run(const std::string& script) { window_->run(script); }
  std::string text(std::string_view path) { return window_->text(path); }

  SampleDatabase database_;
  std::optional<PanelWindow> window_;
};

TEST_F(BarriersPanelTest, ShowsWhoWaitsForWhomAndWhy) {
  EXPECT_EQ(text("barriers/table/row/3"),
            "3  6.01 \xC2\xB5s  29.6 \xC2\xB5s  6.01 \xC2\xB5s  yes  6  #6 rope  layer.0/attn  #3 "
            "matmul  layer.0/attn  RAW  yes  layer.0/attn/matmul  256 B  matmul (layer.0/attn) "
            "wrote what rope (layer.0/attn) reads");
  EXPECT_EQ(text("barriers/counts"), "64 required, 64 emitted");
  run("fits");
}

TEST_F(BarriersPanelTest, NamesWhatIsMissingAndWhatIsRedundant) {
  EXPECT_EQ(text("barriers/table/row/1/emitted"), "missing");
  EXPECT_EQ(text("barriers/table/row/2/emitted"), "redundant");
}

TEST_F(BarriersPanelTest, TheFiltersCountAndLeaveTheirs) {
  EXPECT_EQ(text("barriers/filter/all"), "all 65");
  EXPECT_EQ(text("barriers/filter/RAW"), "RAW 64");
  EXPECT_EQ(text("barriers/filter/WAW"), "WAW 0");
  run("expect_state barriers/filter/all on\nclick barriers/filter/WAR");
  EXPECT_EQ(window_->count("barriers/table/row/"), 1U);
  EXPECT_EQ(text("barriers/table/row/2/kind"), "WAR");
  run("click barriers/filter/missing\nabsent barriers/table/row/2");
  EXPECT_EQ(text("barriers/table/row/1/kind"), "RAW");
  run("click barriers/filter/redundant\nexpect barriers/table/row/2/emitted redundant");
  run("click barriers/filter/all\nexpect_state barriers/filter/all on");
  EXPECT_GT(window_->count("barriers/table/row/"), 4U);
}

TEST_F(BarriersPanelTest, ARowSelectsTheNodeThatWaits) {
  run("click barriers/table/row/3\nexpect_state barriers/table/row/3 selected");
  EXPECT_EQ(window_->workspace().selection.current().node, 6U);
}

TEST_F(BarriersPanelTest, ScrollsToWhatIsSelectedElsewhere) {
  run("absent barriers/table/row/60");
  const Capture& capture = *window_->document().capture();
  window_->workspace().select_node(*waiting_node(capture, capture.barriers[60]));
  run("wait\nexpect_state barriers/table/row/60 selected");
}

TEST_F(BarriersPanelTest, UpAndDownWalk) {
  run("click barriers/table/row/3\nkey Down\nkey Up\nexpect_state barriers/table/row/3 selected");
  const auto node = window_->workspace().selection.current().node;
  run("key Down");
  EXPECT_NE(window_->workspace().selection.current().node, node);
}

TEST_F(BarriersPanelTest, WhatCostsMostComesFirst) {
  const auto times =
      barrier_times(*window_->document().capture(), window_->document().statistics());
  std::size_t costliest = 0;
  for (std::size_t b = 0; b < times.size(); ++b) {
    if (times[b] && times[b]->cost_ns() > times[costliest].value_or(BarrierTimes()).cost_ns()) {
      costliest = b;
    }
  }
  window_.emplace(database_.path(), std::make_unique<BarriersPanel>(), kBarriersSize);
  run("expect_state barriers/table/header/cost descending\nfits");
  const std::string row = "barriers/table/row/" + std::to_string(costliest);
  EXPECT_THAT(duration_text(times[costliest]->cost_ns()),
              ::testing::StartsWith(text(row + "/cost")));
  EXPECT_NE(text(row + "/reason"), "(absent)");
}

TEST_F(BarriersPanelTest, ARightClickLeadsToTheNodeThatIsWaitedFor) {
  window_.emplace(database_.path(), std::make_unique<BarriersPanel>(),
                  HeadlessOptions{.width = 1600, .height = 900});
  run("right barriers/table/row/3\nclick barriers/context/go_to_the_node_it_waits_for");
  EXPECT_EQ(window_->workspace().selection.current().node, 3U);
}

TEST_F(BarriersPanelTest, AHeaderSorts) {
  run("click barriers/table/header/size\nexpect_state barriers/table/header/size descending");
  EXPECT_EQ(text("barriers/table/row/5/size"), "64.0");  // KiB: a cache, the greatest
  EXPECT_EQ(text("barriers/table/row/3"), "(absent)");
  run("click barriers/table/header/step\nclick barriers/table/header/step");
  EXPECT_EQ(text("barriers/table/row/0/step"), "1");  // ascending: the first is in sight again
}

TEST_F(BarriersPanelTest, CopiesAQueryWithARowForEveryBarrier) {
  const auto rows = run_sql(database_.path(), window_->panel().sql(window_->workspace())).rows;
  EXPECT_EQ(rows.size(), 65U);
}

TEST_F(BarriersPanelTest, FitsANarrowPanel) {
  PanelWindow narrow(database_.path(), std::make_unique<BarriersPanel>(),
                     {.width = 380, .height = 300});
  narrow.run(std::string(kByStep) + "\nfits");
  EXPECT_EQ(narrow.text("barriers/table/row/3/kind"), "RAW");
  EXPECT_EQ(narrow.text("barriers/table/row/3/reason"), "(absent)");
}

struct Empty {
  const char* name;
  const char* sql;
  const char* text;
};

class EmptyBarriersPanel : public ::testing::TestWithParam<Empty> {};

TEST_P(EmptyBarriersPanel, SaysWhy) {
  const SampleDatabase database;
  ASSERT_EQ(test::sql(database.path(), GetParam().sql), "");
  PanelWindow window(database.path(), std::make_unique<BarriersPanel>(), kBarriersSize);
  EXPECT_EQ(window.text("barriers/empty/what"), GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(Of, EmptyBarriersPanel,
                         ::testing::Values(Empty{"NoBarriers", "DELETE FROM barriers",
                                                 "No step has to wait: the plan has no barriers."},
                                           Empty{"NoPlan",
                                                 "DELETE FROM barriers; DELETE FROM steps",
                                                 "The capture has no plan, and so no barriers."}),
                         [](const auto& empty) { return std::string(empty.param.name); });

}  // namespace
}  // namespace reprise::debugger
