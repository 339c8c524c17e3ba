// Tracks for slices that may overlap.
#include <sstream>

#include <gtest/gtest.h>

#include "debugger/cli/trace_writer.h"

namespace reprise::cli {
namespace {

class TraceLanesTest : public ::testing::Test {
 protected:
  std::ostringstream out_;
  TraceWriter writer_{out_};
  TraceLanes apart_{writer_, 1, "queue", false}, nested_{writer_, 1, "thread", true};
};

TEST_F(TraceLanesTest, SlicesThatLieApartShareATrack) {
  const int first = apart_.place(0, 10).thread;
  EXPECT_EQ(apart_.place(10, 20).thread, first);
}

TEST_F(TraceLanesTest, SlicesThatOverlapDoNot) {
  const int first = apart_.place(0, 10).thread;
  EXPECT_NE(apart_.place(9, 20).thread, first);
}

TEST_F(TraceLanesTest, SlicesInEachOtherDoNotUnlessTheyMay) {
  const int first = apart_.place(0, 10).thread;
  EXPECT_NE(apart_.place(2, 8).thread, first);
  const int outer = nested_.place(0, 10).thread;
  EXPECT_EQ(nested_.place(2, 8).thread, outer);
}

TEST_F(TraceLanesTest, SlicesThatReachOutOfTheOneAroundThemDoNot) {
  const int outer = nested_.place(0, 10).thread;
  EXPECT_NE(nested_.place(2, 11).thread, outer);
}

TEST_F(TraceLanesTest, SlicesThatComeLateNeedAnother) {
  const int first = apart_.place(20, 30).thread;
  EXPECT_NE(apart_.place(0, 10).thread, first);
}

TEST_F(TraceLanesTest, TracksAfterTheFirstAreNumbered) {
  apart_.place(0, 10);
  apart_.place(5, 10);
  const std::string text = out_.str();
  EXPECT_EQ(text.substr(text.rfind('\n') + 1),
            "{\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"thread_name\",\"args\":{\"name\":"
            "\"queue (2)\"}}");
}

}  // namespace
}  // namespace reprise::cli
