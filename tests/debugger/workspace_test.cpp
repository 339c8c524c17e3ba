#include "debugger/model/workspace.h"

#include <gtest/gtest.h>

#include "tests/profile/timed_replays.h"

namespace reprise::debugger {
namespace {

void write(const std::filesystem::path& path, std::size_t scales) {
  test::GraphOptions options;
  options.scales = scales;
  const auto graph = test::GraphMaker(options).make();
  const auto sink = open_profile(path, {});
  sink->device(test::nanosecond_device());
  const std::uint64_t recording = test::send_recording(*sink, graph);
  for (std::uint64_t r = 0; r < 3; ++r) {
    const test::TimedReplay replay(recording, r,
                                   std::vector<std::uint64_t>(graph->steps.size(), 100 + r));
    sink->replay(replay.record);
  }
}

TEST(Workspace, ANewCaptureHasAnotherTreeAndNoSelection) {
  const test::TempFolder folder;
  write(folder / "profile.db", 0);
  write(folder / "profile.db", 5);
  Workspace workspace(folder / "profile.db", {});
  EXPECT_TRUE(workspace.scopes.empty());
  workspace.settle();
  EXPECT_EQ(workspace.scopes[0].count, 8U);
  workspace.select_node(7);
  workspace.settle();
  EXPECT_EQ(workspace.document.histogram().size(), 2U);  // 100 and 101, 102 and 103
  workspace.document.choose({1, 1});
  workspace.settle();
  EXPECT_EQ(workspace.scopes[0].count, 3U);
  EXPECT_EQ(workspace.selection.current(), Selection{});
  EXPECT_FALSE(workspace.selection.can_go_back());
}

TEST(Workspace, SelectsNothingThatTheCaptureDoesNotHave) {
  const test::TempFolder folder;
  write(folder / "profile.db", 5);
  Workspace workspace(folder / "profile.db", {});
  workspace.settle();
  workspace.select_node(7);  // the last one
  const Selection last = workspace.selection.current();
  workspace.select_node(8);
  EXPECT_EQ(workspace.selection.current(), last);
  workspace.select_nodes({3, 8});
  EXPECT_EQ(workspace.selection.current(), last);
  workspace.select(
      {.node = {}, .item = static_cast<std::uint32_t>(workspace.scopes.items().size())});
  EXPECT_EQ(workspace.selection.current(), last);
}

TEST(Workspace, IsBusyUntilWhatItReadsIsTakenOver) {
  const test::TempFolder folder;
  write(folder / "profile.db", 0);
  Workspace workspace(folder / "profile.db", {});
  EXPECT_FALSE(workspace.busy());
  workspace.poll();
  EXPECT_TRUE(workspace.busy());
  workspace.settle();
  EXPECT_FALSE(workspace.busy());
  workspace.queries.ask(workspace.reads, "SELECT 1");
  EXPECT_TRUE(workspace.busy());
  workspace.settle();
  EXPECT_FALSE(workspace.busy());
}

TEST(Workspace, ChangesAllTheTimeWhilePlaying) {
  const test::TempFolder folder;
  write(folder / "profile.db", 0);
  Workspace workspace(folder / "profile.db", {});
  workspace.settle();
  EXPECT_FALSE(workspace.poll());
  workspace.playing = true;
  EXPECT_TRUE(workspace.poll());
  EXPECT_TRUE(workspace.poll());
  workspace.playing = false;
  EXPECT_FALSE(workspace.poll());
}

TEST(Workspace, GoingBackShowsTheHistogramOfBefore) {
  const test::TempFolder folder;
  write(folder / "profile.db", 5);
  Workspace workspace(folder / "profile.db", {});
  workspace.settle();
  workspace.select_node(0);  // one step
  workspace.settle();
  const std::uint64_t low = workspace.document.histogram().at(0).low_ns;
  workspace.select_node(2);  // two
  workspace.settle();
  EXPECT_NE(workspace.document.histogram().at(0).low_ns, low);
  workspace.back();
  workspace.settle();
  EXPECT_EQ(workspace.selection.current().node, 0U);
  EXPECT_EQ(workspace.document.histogram().at(0).low_ns, low);
  workspace.forward();
  EXPECT_EQ(workspace.selection.current().node, 2U);
}

}  // namespace
}  // namespace reprise::debugger
