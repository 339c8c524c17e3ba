// Paths: replays/cells, replays/range/first and second, replays/shown/first and second; published:
// replays/shown and replays/range as positions.
#include "debugger/views/replay_strip_panel.h"

#include <cmath>

#include "tests/debugger/panel_window.h"
#include "tests/debugger/recorded_database.h"
#include "tests/seed.h"

namespace reprise::debugger {
namespace {

using ::testing::HasSubstr;

class ReplayStripPanelTest : public PanelTest<ReplayStripPanel> {
 protected:
  ReplayStripPanelTest() : PanelTest({.width = 1000, .height = 56}) {}
};

TEST_F(ReplayStripPanelTest, AClickShowsTheReplayUnderTheMouse) {
  EXPECT_EQ(window_.text("replays/range/first"), "59 replays");
  run("click replays/cells");  // in its middle
  EXPECT_EQ(window_.document().shown_replay(), 29U);
  EXPECT_FALSE(window_.document().range());
  EXPECT_THAT(window_.text("replays/shown/first"), HasSubstr("#29"));
  EXPECT_THAT(window_.text("replays/shown/second"), HasSubstr("pos "));
}

TEST_F(ReplayStripPanelTest, ADragBrushesARangeInEitherDirectionAndADoubleClickClearsIt) {
  run("drag replays/cells 0.205 0.5 0.605 0.5");
  EXPECT_EQ(window_.document().range(), (ReplayRange{12, 35}));
  EXPECT_EQ(window_.document().statistics().replays, 24U);
  run("drag replays/cells 0.605 0.5 0.505 0.5");
  EXPECT_EQ(window_.document().range(), (ReplayRange{29, 35}));
  EXPECT_EQ(window_.text("replays/range/first"), "7 of 59");
  run("double replays/cells");
  EXPECT_FALSE(window_.document().range());
  EXPECT_EQ(window_.document().statistics().replays, 58U);
}

TEST_F(ReplayStripPanelTest, ADragGoesOnWhileReplaysAreAdded) {
  const Rect cells = window_.host().registry().find("replays/cells")->visible;
  MouseQueue& mouse = window_.host().mouse();
  const auto move = [&](float share) {
    mouse.move({std::lerp(cells.min_x, cells.max_x, share), (cells.min_y + cells.max_y) / 2});
    run("wait");
  };
  move(0.205F);
  mouse.press(ImGuiMouseButton_Left, true);
  move(0.605F);
  ASSERT_EQ(test::sql(database_.path(),
                      "CREATE TEMP TABLE other AS SELECT * FROM replays ORDER BY id DESC LIMIT 1; "
                      "UPDATE other SET id=id+1, seq=seq+1; INSERT INTO replays SELECT * FROM "
                      "other"),
            "");
  run("wait");
  ASSERT_EQ(window_.document().replays().rows.size(), 60U);
  mouse.press(ImGuiMouseButton_Left, false);
  run("wait");
  EXPECT_EQ(window_.document().range(), (ReplayRange{12, 36}));
}

TEST_F(ReplayStripPanelTest, EndFollowsTheNewest) {
  run("click replays/cells\nkey End");
  EXPECT_EQ(window_.document().shown_replay(), 58U);
  EXPECT_TRUE(window_.document().follows_newest());
}

TEST_F(ReplayStripPanelTest, HoveringSaysThatAColumnIsCut) {
  ASSERT_EQ(test::sql(database_.path(),
                      "UPDATE replays SET device_ns = 99000000 WHERE id = (SELECT id FROM replays "
                      "ORDER BY id LIMIT 1 OFFSET (SELECT count(*) - 30 FROM replays))"),
            "");
  PanelWindow window(database_.path(), std::make_unique<ReplayStripPanel>(),
                     {.width = 1000, .height = 56});
  window.run("hover replays/cells\nexpect tooltip longer than a whole column");
}

TEST_F(ReplayStripPanelTest, CountsTheColoursAndNamesThem) {
  run("hover replays/legend\nexpect tooltip 1 warm-up");
}

TEST_F(ReplayStripPanelTest, ARightClickAsksWhatToDoWithTheReplay) {
  PanelWindow roomy(database_.path(), std::make_unique<ReplayStripPanel>(),
                    {.width = 1000, .height = 400});
  roomy.run("right replays/cells\nclick replays/context/take_this_replay_alone");
  EXPECT_EQ(roomy.document().range(), (ReplayRange{29, 29}));
}

TEST_F(ReplayStripPanelTest, EscapeClearsTheRange) {
  run("drag replays/cells 0.2 0.5 0.6 0.5\nkey Escape");
  EXPECT_FALSE(window_.document().range());
}

TEST_F(ReplayStripPanelTest, TheArrowKeysShowTheReplayBeforeAndAfterAndStopAtTheEnds) {
  run("click replays/cells\nkey Left");
  EXPECT_EQ(window_.document().shown_replay(), 28U);
  run("key Right\nkey Right");
  EXPECT_EQ(window_.document().shown_replay(), 30U);
  window_.workspace().document.show_replay(58);
  run("key Right");
  EXPECT_EQ(window_.document().shown_replay(), 58U);
  window_.workspace().document.show_replay(0);
  run("key Left");
  EXPECT_EQ(window_.document().shown_replay(), 0U);
}

TEST_F(ReplayStripPanelTest, SpacePlaysTheRangeAndGoesAroundInIt) {
  run("drag replays/cells 0.205 0.5 0.23 0.5");
  ASSERT_EQ(window_.document().range(), (ReplayRange{12, 13}));
  window_.workspace().document.show_replay(12);
  run("key Space");
  EXPECT_TRUE(window_.workspace().playing);
  std::set<std::size_t> seen;
  for (int i = 0; i < 20; ++i) {
    run("wait");
    seen.insert(*window_.document().shown_replay());
  }
  EXPECT_EQ(seen, (std::set<std::size_t>{12, 13}));
  run("key Space");
  EXPECT_FALSE(window_.workspace().playing);
}

TEST_F(ReplayStripPanelTest, HoveringNamesTimesAndState) {
  run("hover replays/cells");
  EXPECT_THAT(window_.text("tooltip"), HasSubstr("#29  decode"));
  EXPECT_THAT(window_.text("tooltip"), HasSubstr("\ndevice "));
  EXPECT_THAT(window_.text("tooltip"), HasSubstr("token "));
}

TEST(ReplayStripPanel, OfAGraphThatNeverRanNamesTheCall) {
  std::mt19937_64 random(test::test_seed());
  const RecordedDatabase database({}, random);
  const PanelWindow window(database.path(), std::make_unique<ReplayStripPanel>(),
                           {.width = 1000, .height = 56});
  EXPECT_EQ(window.text("replays/empty/call"), "CapturedGraph::launch()");
}

}  // namespace
}  // namespace reprise::debugger
