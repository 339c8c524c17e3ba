#include "debugger/app/frame_loop.h"

#include <thread>

#include <gtest/gtest.h>

#include "debugger/model/workspace.h"
#include "tests/debugger/panel_window.h"

namespace reprise::debugger {
namespace {

/// A window nobody touches; open until the workspace has nothing more to read and the loop draws no
/// more.
class UntouchedWindow final : public LoopWindow {
 public:
  explicit UntouchedWindow(Workspace& workspace) : workspace_(workspace) {}
  bool closed() const override {
    constexpr int kIdleTurns = 50;
    return idle_ > kIdleTurns;
  }
  bool hidden() const override { return false; }
  void wait_for_input(double seconds) override {
    const bool reads = workspace_.busy() || workspace_.document.capture() == nullptr;
    idle_ = seconds > 0 && !reads ? idle_ + 1 : 0;
    std::this_thread::yield();
  }
  bool draw(const View& /*view*/) override {
    drawn_ = workspace_.document.capture();
    return false;
  }
  std::shared_ptr<const Capture> drawn() const { return drawn_; }

 private:
  Workspace& workspace_;
  std::shared_ptr<const Capture> drawn_;
  int idle_ = 0;
};

TEST(FrameLoop, WhatAReaderFoundIsDrawnAtWhateverPointOfTheFramesItEnds) {
  const SampleDatabase database;
  // What ended during a frame or a wait is noticed so many turns of the loop after what ended
  // before it: while frames are left to draw, with the last of them, and when all sleeps.
  for (int turns = 1; turns <= 2 * FramePacing::kFramesPerEvent; ++turns) {
    SCOPED_TRACE(turns);
    Workspace workspace(database.path(), {});
    View view;
    int turn = 0;
    view.poll = [&] { return ++turn % turns == 0 && workspace.poll(); };
    view.busy = [&] { return workspace.busy(); };
    UntouchedWindow window(workspace);
    FramePacing pacing;
    run_frames(window, pacing, view);
    EXPECT_TRUE(window.drawn() == workspace.document.capture());
  }
}

}  // namespace
}  // namespace reprise::debugger
