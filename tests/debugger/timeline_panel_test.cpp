// Paths: timeline/title, timeline/measure, timeline/lanes, timeline/prepare, submit and wait,
// timeline/scope/<item of the tree>, timeline/barrier/<barrier>, timeline/step/<step>,
// timeline/no-steps; published: timeline/axis.
#include "debugger/views/timeline_panel.h"

#include "debugger/model/format.h"
#include "tests/debugger/panel_window.h"
#include "tests/debugger/recorded_database.h"
#include "tests/profile_cli/timed_database.h"

namespace reprise::debugger {
namespace {

using ::testing::HasSubstr;

class TimelinePanelTest : public PanelTest<TimelinePanel> {
 protected:
  TimelinePanelTest() : PanelTest({.width = 1600, .height = 230}) {}
  std::string axis() { return window_.host().registry().value("timeline/axis"); }
  std::size_t steps() { return window_.count("timeline/step/"); }
};

TEST_F(TimelinePanelTest, ShowsTheLastTimedReplayUnlessOneIsChosen) {
  EXPECT_EQ(window_.document().shown_replay(), 58U);
  EXPECT_THAT(window_.text("timeline/title"), HasSubstr("Replay #58, "));
  EXPECT_THAT(window_.text("timeline/title"), HasSubstr("91 steps, 65 barriers"));
  EXPECT_EQ(steps(), 91U);
  EXPECT_EQ(window_.text("timeline/step/10"), "attention");
  EXPECT_EQ(window_.text("timeline/wait"), "wait");
  window_.workspace().document.show_replay(3);
  run("expect timeline/title Replay #3,");
}

TEST(TimelinePanel, CountsTheStepsOfAReplayThatWasNotTimed) {
  const test::TempFolder folder;
  const std::filesystem::path path = folder / "profile.db";
  test::write_run(path, {.mode = TimingMode::off});
  const PanelWindow window(path, std::make_unique<TimelinePanel>(), {.width = 1600, .height = 230});
  EXPECT_THAT(window.text("timeline/title"), HasSubstr("5 steps, 4 barriers, not timed"));
}

TEST_F(TimelinePanelTest, SaysThatTheFileChangedIfItCannotBeRead) {
  std::filesystem::resize_file(database_.path(), 100'000);
  window_.workspace().document.show_replay(3);
  run("wait\nexpect timeline/no-steps The file changed since it was opened");
}

TEST_F(TimelinePanelTest, AClickOnAStepSelectsItsNode) {
  run("click timeline/step/10\nexpect_state timeline/step/10 selected");
  EXPECT_EQ(window_.workspace().selection.current().node, 10U);
}

TEST_F(TimelinePanelTest, AClickOnAScopeSelectsIt) {
  const ScopeTree& scopes = window_.workspace().scopes;
  const std::uint32_t attn = scopes[scopes.item_of_node(10)].parent;
  run("click timeline/scope/" + std::to_string(attn));
  EXPECT_EQ(window_.workspace().selection.current().item, attn);
}

TEST_F(TimelinePanelTest, TheWheelZoomsAroundTheMouseAndADoubleClickShowsAll) {
  const std::string all = axis();
  const Widget before = *window_.host().registry().find("timeline/step/45");
  run("wheel timeline/step/45 8");
  const Widget after = *window_.host().registry().find("timeline/step/45");
  EXPECT_GT(after.visible.max_x - after.visible.min_x,
            3 * (before.visible.max_x - before.visible.min_x));
  const float middle = (before.visible.min_x + before.visible.max_x) / 2;
  EXPECT_LT(after.visible.min_x, middle);
  EXPECT_GT(after.visible.max_x, middle);
  EXPECT_LT(steps(), 30U);
  run("double timeline/lanes");
  EXPECT_EQ(axis(), all);
}

TEST_F(TimelinePanelTest, ADragPansAndStopsAtTheEnds) {
  const std::string all = axis();
  run("drag timeline/lanes 0.5 0.9 0.2 0.9");
  EXPECT_EQ(axis(), all);
  run("wheel timeline/lanes 8");
  const std::string zoomed = axis();
  run("drag timeline/lanes 0.5 0.9 0.2 0.9");
  EXPECT_NE(axis(), zoomed);
  run("drag timeline/lanes 0.2 0.9 0.5 0.9");
  EXPECT_EQ(axis(), zoomed);
}

TEST_F(TimelinePanelTest, AShiftDragMeasuresInsteadOfPanning) {
  const std::string all = axis();
  window_.host().keys().push({.shift = true}, true);
  run("drag timeline/lanes 0.25 0.9 0.75 0.9");
  const Timeline timeline =
      make_timeline(*window_.document().capture(), {}, window_.document().replays().rows[58],
                    window_.document().step_times());
  EXPECT_EQ(
      window_.text("timeline/measure"),
      duration_text(static_cast<std::uint64_t>((timeline.end - timeline.begin) / 2)) + " measured");
  EXPECT_EQ(axis(), all);
}

TEST_F(TimelinePanelTest, HoveringAStepTellsItsNodeAndTime) {
  run("hover timeline/step/10");
  EXPECT_THAT(window_.text("tooltip"), HasSubstr("#10 attention  layer.0/attn"));
  EXPECT_THAT(window_.text("tooltip"), HasSubstr("attention.f32"));
}

TEST_F(TimelinePanelTest, AReplayWithoutStepTimesNamesTheCall) {
  window_.workspace().document.choose({.run = 1, .graph = 1});
  run("wait");
  EXPECT_THAT(window_.text("timeline/no-steps"), HasSubstr("TimingMode::node"));
  EXPECT_EQ(window_.text("timeline/wait"), "wait");
}

TEST_F(TimelinePanelTest, AnotherReplayShowsTheSamePart) {
  run("wheel timeline/lanes 8");
  const std::size_t seen = steps();
  window_.workspace().document.show_replay(57);
  run("wait");
  EXPECT_NEAR(static_cast<double>(steps()), static_cast<double>(seen), 12);
}

}  // namespace
}  // namespace reprise::debugger
