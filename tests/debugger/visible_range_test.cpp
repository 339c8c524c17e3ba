#include "debugger/model/visible_range.h"

#include <gtest/gtest.h>

namespace reprise::debugger {
namespace {

TEST(VisibleRange, ZoomsAroundAPlaceThatStays) {
  VisibleRange seen;
  seen.zoom(1, 0.25);
  EXPECT_DOUBLE_EQ(seen.length(), 0.8);
  EXPECT_DOUBLE_EQ(seen.begin() + 0.25 * seen.length(), 0.25);
  seen.zoom(-1, 0.25);
  EXPECT_NEAR(seen.begin(), 0, 1e-12);
  EXPECT_NEAR(seen.end(), 1, 1e-12);
}

TEST(VisibleRange, NeverShowsWhatIsOutsideOrNothing) {
  VisibleRange seen;
  seen.zoom(-5, 0.5);
  EXPECT_EQ(seen.begin(), 0);
  EXPECT_EQ(seen.end(), 1);
  seen.zoom(1000, 1);
  EXPECT_LT(seen.length(), 1.01 * VisibleRange::kLeast);
  EXPECT_LE(seen.end(), 1);
}

TEST(VisibleRange, PansAsFarAsThereIsMore) {
  VisibleRange seen;
  seen.pan(0.3);
  EXPECT_EQ(seen.begin(), 0);
  seen.zoom(1, 0);  // 0 to 0.8
  seen.pan(0.1);
  EXPECT_DOUBLE_EQ(seen.begin(), 0.1);
  EXPECT_DOUBLE_EQ(seen.end(), 0.9);
  seen.pan(5);
  EXPECT_DOUBLE_EQ(seen.end(), 1);
  EXPECT_DOUBLE_EQ(seen.length(), 0.8);
  seen.pan(-5);
  EXPECT_DOUBLE_EQ(seen.begin(), 0);
  seen.show_all();
  EXPECT_EQ(seen.end(), 1);
}

}  // namespace
}  // namespace reprise::debugger
