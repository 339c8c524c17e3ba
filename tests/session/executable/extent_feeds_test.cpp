// Outputs with an extent feed handles: these have the rows of the run that wrote them last.
#include "tests/session/executable/executable_test.h"

namespace reprise::testing {
namespace {

class ExtentFeeds : public ExecutableTest {
 protected:
  static constexpr FeedMode kModes[] = {FeedMode::copy, FeedMode::swap};
  static constexpr std::int64_t kColumns = 4;
  /// next = h + x, row by row.
  static void summed_rows(GraphSession& s) {
    const Tensor h = s.input("h", {s.extent("rows"), kColumns});
    const Tensor x = s.input("x", {s.extent("rows"), kColumns});
    s.output("next", add(s, h, x));
  }
  ExecutableGraph graph(FeedMode mode, bool to_host = false) {
    ExecutableGraph graph(executor_, summed_rows, {.extent = "rows", .buckets = {2, 8}});
    graph.create_handle({.name = "h", .shape = {8, kColumns}});
    graph.feed("h", "next", {.mode = mode, .to_host = to_host});
    return graph;
  }
  static Floats counted(std::int64_t rows, float step = 1) {
    Floats values;
    for (std::int64_t i = 0; i < rows * kColumns; ++i) {
      values.push_back(static_cast<float>(i) * step);
    }
    return values;
  }
};
INSTANTIATE_TEST_SUITE_P(On, ExtentFeeds, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(ExtentFeeds, AHandleHasTheRowsThatTheLastRunWrote) {
  for (const FeedMode mode : kModes) {
    ExecutableGraph graph = this->graph(mode, true);
    EXPECT_EQ(graph.read("h"), Floats(8 * kColumns)) << "all rows at first";
    graph.set_active_extent(5);
    EXPECT_EQ(graph.run({{"x", counted(5)}}).read("next"), counted(5));
    EXPECT_EQ(graph.read("h"), counted(5));
    graph.set_active_extent(2);  // the other bucket goes on with the first rows
    (void)graph.run({{"x", counted(2)}});
    EXPECT_EQ(graph.read("h"), counted(2, 2));
  }
}

TEST_P(ExtentFeeds, TheRowsOfAHandleAreThoseOfARun) {
  for (const FeedMode mode : kModes) {
    ExecutableGraph graph(executor_,
                          [](GraphSession& s) {
                            const Tensor h = s.input("h", {s.extent("rows"), kColumns});
                            s.output("next", add(s, h, h));
                          },
                          {.extent = "rows", .buckets = {2, 8}});
    graph.create_handle({.name = "h", .shape = {8, kColumns}});
    graph.feed("h", "next", {.mode = mode});
    for (const std::int64_t rows : {3, 1, 8}) {
      graph.bind("h", counted(rows));
      (void)graph.run();
      (void)graph.run();
      EXPECT_EQ(graph.read("h"), counted(rows, 4)) << rows << " rows";
    }
  }
}

TEST_P(ExtentFeeds, ARunOfOtherRowsThanTheHandleIsRefusedAndChangesNothing) {
  ExecutableGraph graph = this->graph(FeedMode::copy);
  graph.bind("h", counted(3));
  expect_error(ErrorCode::size_mismatch, {"'x' has (4) rows", "'h' 3"}, [&] {
    (void)graph.run({{"x", counted(4)}});
  });
  graph.set_active_extent(5);
  expect_error(ErrorCode::size_mismatch, {"'h' has (3) rows", "the active extent is 5"}, [&] {
    (void)graph.run({{"x", counted(5)}});
  });
  EXPECT_EQ(graph.read("h"), counted(3));
}

TEST_P(ExtentFeeds, ARunOfNoRowsLeavesTheRowsOfTheHandle) {
  ExecutableGraph graph = this->graph(FeedMode::swap);
  graph.bind("h", counted(6));
  graph.set_active_extent(0);
  (void)graph.run({{"x", counted(1)}});
  EXPECT_EQ(graph.read("h"), counted(6));
}

TEST_P(ExtentFeeds, AHandleThatIsNoInputKeepsTheResultsOfOneRunForAnother) {
  ExecutableGraph graph(executor_,
                        [](GraphSession& s) {
                          const Tensor x = s.input("x", {s.extent("rows"), kColumns});
                          s.output("twice", add(s, x, x));
                        },
                        {.extent = "rows", .buckets = {4}});
  graph.create_handle({.name = "kept", .shape = {4, kColumns}});
  graph.feed("kept", "twice");
  (void)graph.run({{"x", counted(3)}});
  EXPECT_EQ(graph.read("kept"), counted(3, 2));
}

TEST_P(ExtentFeeds, ForksHaveRowsOfTheirOwn) {
  ExecutableGraph graph = this->graph(FeedMode::swap);
  graph.bind("h", counted(2));
  ExecutableGraph fork = graph.fork();
  EXPECT_EQ(fork.read("h"), Floats(8 * kColumns));
  fork.bind("h", counted(7));
  (void)fork.run({{"x", counted(7)}});
  (void)graph.run({{"x", counted(2)}});
  EXPECT_EQ(fork.read("h"), counted(7, 2));
  EXPECT_EQ(graph.read("h"), counted(2, 2));
}

TEST_P(ExtentFeeds, ValuesOfNoWholeRowsAreRefused) {
  ExecutableGraph graph = this->graph(FeedMode::copy);
  expect_error(ErrorCode::size_mismatch, {"'h' is f32 [8, 4]", "16 a row", "(20) bytes"},
               [&] { graph.bind("h", Floats(5)); });
  expect_error(ErrorCode::size_mismatch, {"(0) bytes"}, [&] { graph.bind("h", Floats()); });
  expect_error(ErrorCode::size_mismatch, {"(144) bytes"}, [&] { graph.bind("h", Floats(36)); });
}

TEST_P(ExtentFeeds, ARunThatTheDeviceMayStopFeedsNoExtent) {
  ExecutableGraph graph(
      executor_, summed_rows,
      {.state = StateLayout().carried("done").stop_when("done"), .extent = "rows", .buckets = {8}});
  graph.create_handle({.name = "h", .shape = {8, kColumns}});
  expect_error(ErrorCode::unsupported, {"'next'", "may stop a run on the device"},
               [&] { graph.feed("h", "next"); });
}

TEST_P(ExtentFeeds, AnExtentDoesNotFeedAnInputOfAFixedShape) {
  ExecutableGraph graph(executor_,
                        [](GraphSession& s) {
                          const Tensor x = s.input("x", {s.extent("rows"), kColumns});
                          const Tensor h = s.input("h", {8, kColumns});
                          s.output("twice", add(s, x, x));
                          s.output("h twice", add(s, h, h));
                        },
                        {.extent = "rows", .buckets = {8}});
  graph.create_handle({.name = "h", .shape = {8, kColumns}});
  expect_error(ErrorCode::shape_mismatch,
               {"'twice'", "cannot feed the input 'h'", "only one of them has an extent"},
               [&] { graph.feed("h", "twice"); });
}

}  // namespace
}  // namespace reprise::testing
