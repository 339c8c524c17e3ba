// Devices that do not replay: every launch encodes its steps again. Results, state, tickets,
// timings and caches are those of any other device. Vulkan's validation layer would tell if an
// encoding were submitted twice.
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class WithoutReplay : public ::testing::TestWithParam<std::string> {
 protected:
  CapturedGraph doubler(std::size_t slots = 2) {
    auto s = executor_.begin_recorded({.name = "doubler"});
    const Tensor x = s.input("x", {4}, x_);
    s.output("y", add(s, x, x));
    return s.finish({.slots = slots}).graph;
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device_without_replay(GetParam());
  GraphExecutor executor_{device_};
  const std::vector<float> x_{1, 2, 3, 4}, twice_{2, 4, 6, 8};
};
INSTANTIATE_TEST_SUITE_P(On, WithoutReplay, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(WithoutReplay, TheReportAndTheGraphSaySo) {
  auto s = executor_.begin_recorded();
  s.output("x", s.input("x", {4}, x_));
  const FinishResult result = s.finish();
  EXPECT_FALSE(result.report.replays);
  EXPECT_FALSE(result.graph.replays());
  GraphExecutor other(test_device(GetParam()));
  auto r = other.begin_recorded();
  r.output("x", r.input("x", {4}, x_));
  const FinishResult replayed = r.finish();
  EXPECT_TRUE(replayed.report.replays);
  EXPECT_TRUE(replayed.graph.replays());
}

TEST_P(WithoutReplay, LaunchesTakeNewInputs) {
  CapturedGraph graph = doubler();
  EXPECT_EQ(graph.read("y"), twice_);
  for (float i = 0; i < 4; ++i) {
    graph.set_input("x", std::vector<float>{i, i + 1, i + 2, i + 3});
    graph.launch();
    EXPECT_EQ(graph.read("y"), (std::vector<float>{2 * i, 2 * i + 2, 2 * i + 4, 2 * i + 6}));
  }
  EXPECT_EQ(graph.num_replays(), 5U);
}

TEST_P(WithoutReplay, TicketsHoldTheirOutputs) {
  CapturedGraph graph = doubler(3);
  const Ticket first = graph.launch_async();
  graph.set_input("x", twice_);
  const Ticket second = graph.launch_async();
  EXPECT_EQ(second.read("y"), (std::vector<float>{4, 8, 12, 16}));
  EXPECT_EQ(first.read("y"), twice_);
}

TEST_P(WithoutReplay, StateGoesOn) {
  const StateBlock state(device_, StateLayout().carried("pos", 2).host("rows", 1));
  auto s = executor_.begin_recorded({.state = state});
  const Tensor next = s.input("next", {1}, std::vector<std::int32_t>{9});
  advance(s, next, {.position = s.state("pos"), .rows = s.state("rows")});
  s.output("next", next);
  CapturedGraph graph = s.finish().graph;
  graph.set_state("rows", 10);
  graph.launch();
  graph.set_state("pos", 100);
  graph.launch();
  EXPECT_EQ(graph.state("pos"), 110);
}

TEST_P(WithoutReplay, ALaunchMayHaveSeveralIterations) {
  const StateBlock state(device_, StateLayout().carried("pos"));
  auto s = executor_.begin_recorded({.state = state, .max_iterations = 4});
  const Tensor next = s.input("next", {1}, std::vector<std::int32_t>{9});
  advance(s, next, {.position = s.state("pos"), .rows = 1});
  s.output("next", next);
  CapturedGraph graph = s.finish({.run = false}).graph;
  for (const TimingMode mode : {TimingMode::off, TimingMode::replay, TimingMode::node}) {
    graph.set_timing(mode);
    graph.set_state("pos", 0);
    graph.launch({.iterations = 4});
    EXPECT_EQ(graph.iterations(), 4U);
    EXPECT_EQ(graph.state("pos"), 4);
  }
}

TEST_P(WithoutReplay, NodesAreTimed) {
  CapturedGraph graph = doubler();
  graph.set_timing(TimingMode::node);
  graph.launch();
  graph.launch();
  EXPECT_EQ(graph.read("y"), twice_);
  EXPECT_GT(graph.last_times().device_ns.value_or(1), 0U);
}

TEST_P(WithoutReplay, ACacheRunsAndSaysWhyItIsNoReplay) {
  GraphCache cache(executor_);
  const GraphOwner owner("model");
  for (float i = 0; i < 3; ++i) {
    const std::vector<float> x{i, 1, 2, 3};
    const KeyedRun run = cache.run({.owner = owner, .tag = "double"},
                                   [](GraphSession& s) {
                                     const Tensor in = s.input("x", {4});
                                     s.output("y", add(s, in, in));
                                   },
                                   {.inputs = {{"x", x}}});
    EXPECT_EQ(run.how, RunOutcome::direct);
    EXPECT_EQ(run.miss, MissReason::unsupported);
    EXPECT_EQ(run.read("y"), (std::vector<float>{2 * i, 2, 4, 6}));
  }
  EXPECT_EQ(cache.counters().missed(MissReason::unsupported), 3U);
  EXPECT_EQ(cache.counters().hits, 0U);
  EXPECT_EQ(cache.counters().recorded, 1U) << "its plan is kept";
}

}  // namespace
}  // namespace reprise::testing
