// Defects that such graphs are known to have elsewhere, a test for each.
#include <numeric>

#include "tests/session/executable/executable_test.h"
#include "tests/session/rows/held_device.h"

namespace reprise::testing {
namespace {

class ExecutableDefects : public ExecutableTest {};
INSTANTIATE_TEST_SUITE_P(On, ExecutableDefects, ::testing::Values("cpu", "vulkan"),
                         device_param_name);

TEST_P(ExecutableDefects, AnOutputOutlivesLaterRunsAndTheGraphItself) {
  std::optional<Ticket> kept;
  {
    ExecutableGraph graph = scaled_graph(2);
    kept = graph.run({{"x", ones}});
    for (int i = 0; i < 5; ++i) {
      (void)graph.run({{"x", Floats(4, 7)}});
    }
  }
  EXPECT_EQ(kept->read("y"), w);
}

TEST_P(ExecutableDefects, RunsInFlightDoNotShareTheMemoryOfAnInput) {
  ExecutableGraph graph = scaled_graph(8);
  (void)graph.run({{"x", ones}});
  std::vector<Ticket> tickets;
  {
    HeldDevice held(device_);  // none of them has begun when the last one is submitted
    for (int i = 0; i < 8; ++i) {
      tickets.push_back(graph.submit({{"x", Floats(4, static_cast<float>(i))}}));
    }
  }
  for (std::size_t i = 0; i < tickets.size(); ++i) {
    EXPECT_EQ(tickets[i].read("y"), times_w(Floats(4, static_cast<float>(i)))) << i;
  }
}

TEST_P(ExecutableDefects, AnExtentOfZeroEndsAtOnceAndLeavesNoOutputs) {
  ExecutableGraph graph = rows_graph();
  graph.set_active_extent(0);
  const Ticket result = graph.run({{"x", w}, {"c", c}});
  EXPECT_FALSE(result.ran());
  EXPECT_THROW((void)result.read("y"), Error);
  graph.clear_active_extent();
  EXPECT_FALSE(graph.run({{"x", Floats()}, {"c", c}}).ran()) << "an input of no rows";
  EXPECT_EQ(graph.run({{"x", w}, {"c", c}}).read("y"), times_w(w));
}

TEST_P(ExecutableDefects, ARunThatItsStateRefusesLeavesTheGraphFree) {
  ExecutableGraph graph(executor_,
                        [](GraphSession& s) {
                          s.output("y", neg(s, s.input("x", {s.extent("rows"), 4})));
                        },
                        {.name = "few",
                         .state = StateLayout().host("rows", 1, {.low = 1, .high = 3}),
                         .extent = "rows",
                         .buckets = {8},
                         .slots = 1});
  expect_error(ErrorCode::invalid_argument, {"rows", "(5)"}, [&] {
    (void)graph.run({{"x", Floats(20, 1)}});
  });
  EXPECT_EQ(graph.run({{"x", Floats(8, 1)}}).read("y"), Floats(8, -1));
}

TEST_P(ExecutableDefects, AnExtentDoesNotCutOpsWithoutThatDimension) {
  ExecutableGraph graph = rows_graph();
  for (const std::int64_t rows : {1, 2, 5, 8}) {
    graph.set_active_extent(rows);
    const Ticket result = graph.run({{"x", Floats(32, 1)}, {"c", c}});
    EXPECT_EQ(result.read("z"), doubled()) << rows;
  }
}

TEST_P(ExecutableDefects, AnInputThatIsLeftOutIsAnErrorAndNotTheValueOfTheRunBefore) {
  ExecutableGraph graph = rows_graph();
  (void)graph.run({{"x", w}, {"c", c}});
  expect_error(ErrorCode::missing_input, {"'c'", "[3, 4]"}, [&] { (void)graph.run({{"x", w}}); });
  PreparedRun run = graph.prepare();
  run.write(graph.input_slot("c"), bytes_of(c));
  expect_error(ErrorCode::missing_input, {"'x'"}, [&] { (void)run.submit(); });
}

TEST_P(ExecutableDefects, CountersOfTwoGraphsDoNotMix) {
  ExecutableGraph a = rows_graph(), b = scaled_graph();
  for (int i = 0; i < 3; ++i) {
    (void)a.run({{"x", w}, {"c", c}});
  }
  EXPECT_EQ(b.recordings(), 1U);
  (void)b.run({{"x", w}});
  EXPECT_EQ(b.recordings(), 1U);
  EXPECT_EQ(a.recordings(), 2U);
}

TEST_P(ExecutableDefects, AValueGoesBeforeAHandleWhichKeepsItsOwn) {
  ExecutableGraph graph = summed_graph();
  graph.bind("h", w);
  EXPECT_EQ(graph.run({{"x", ones}, {"h", ones}}).read("sum"), Floats(4, 2));
  EXPECT_EQ(graph.read("h"), w);
  EXPECT_EQ(graph.run({{"x", ones}}).read("sum"), (Floats{2, 11, 101, 1001}));
}

TEST_P(ExecutableDefects, AnOverLongParamIsRefusedAndItsNeighbourKeepsItsValues) {
  ExecutableGraph graph(executor_, [](GraphSession& s) {
    const Tensor x = mul(s, s.input("x", {4}), s.param("a", {4}));
    s.output("y", mul(s, x, s.param("b", {4})));
  });
  graph.set_param("a", ones);
  graph.set_param("b", w);
  expect_error(ErrorCode::size_mismatch, {"'a'", "(16 bytes)", "(20)"},
               [&] { graph.set_param("a", Floats(5, 9)); });
  EXPECT_EQ(graph.run({{"x", ones}}).read("y"), w);
}

TEST_P(ExecutableDefects, AParamThatWasNeverSetIsAnError) {
  ExecutableGraph graph(executor_, scaled);
  expect_error(ErrorCode::missing_input, {"'w'"}, [&] { (void)graph.run({{"x", ones}}); });
  // One of another graph of the store is none of its concern.
  ExecutableGraph other(
      executor_,
      [](GraphSession& s) { s.output("y", mul(s, s.input("x", {4}), s.param("v", {4}))); },
      {.params = graph.params()});
  graph.set_param("w", w);
  EXPECT_EQ(graph.run({{"x", ones}}).read("y"), w);
}

TEST_P(ExecutableDefects, RunsAndACapturedBucketKeepTheirOwnInputs) {
  ExecutableGraph graph = rows_graph();
  CapturedGraph bucket = graph.captured(8);
  const Floats three(12, 2), five(20, 5);
  bucket.set_input("x", three);
  bucket.set_input("c", c);
  const auto launch = [&] {
    bucket.set_state("rows", 3);
    EXPECT_EQ(bucket.launch_async().read("y"), times_w(three));
  };
  for (int round = 0; round < 4; ++round) {  // every slot of either has been that of the other
    launch();
    EXPECT_EQ(graph.run({{"x", five}, {"c", c}}).read("y"), times_w(five));
    launch();
  }
}

}  // namespace
}  // namespace reprise::testing
