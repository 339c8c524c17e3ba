#include "debugger/app/frame_pacing.h"

#include <gtest/gtest.h>

namespace reprise::debugger {
namespace {

int frames_of(FramePacing& pacing) {
  int frames = 0;
  while (pacing.take_frame(false)) {
    EXPECT_LT(++frames, 100);
  }
  return frames;
}

TEST(FramePacing, AWindowIsIdleSomeFramesAfterTheLastEvent) {
  FramePacing pacing;
  EXPECT_EQ(pacing.wait_seconds(false, false), 0);
  EXPECT_EQ(frames_of(pacing), FramePacing::kFramesPerEvent);
  EXPECT_EQ(pacing.wait_seconds(false, false), FramePacing::kIdleSeconds);
  pacing.wake();
  EXPECT_EQ(pacing.wait_seconds(false, false), 0);
  EXPECT_EQ(frames_of(pacing), FramePacing::kFramesPerEvent);
}

TEST(FramePacing, ABusyWindowSleepsShortlyAndDrawsNothing) {
  FramePacing pacing;
  frames_of(pacing);
  EXPECT_EQ(pacing.wait_seconds(false, true), FramePacing::kBusySeconds);
  EXPECT_EQ(frames_of(pacing), 0);
}

TEST(FramePacing, AHiddenWindowSleepsAndDrawsWhenItIsSeenAgain) {
  FramePacing pacing;
  pacing.wake();
  EXPECT_EQ(pacing.wait_seconds(true, true), FramePacing::kIdleSeconds);
  EXPECT_FALSE(pacing.take_frame(true));
  EXPECT_EQ(pacing.wait_seconds(false, false), 0);
  EXPECT_TRUE(pacing.take_frame(false));
}

}  // namespace
}  // namespace reprise::debugger
