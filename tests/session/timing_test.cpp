// Timing modes: each has its own encoding, none changes a result, and they can change between
// launches.
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class Timing : public ::testing::TestWithParam<std::string> {
 protected:
  CapturedGraph chain(int ops) {
    auto s = executor_.begin_recorded({.name = "chain"});
    Tensor x = s.input("x", {2, 64}, x_);
    for (int i = 0; i < ops; ++i) {
      x = rms_norm(s, x, weight_, {.eps = 1e-5F});
    }
    s.output("y", x);
    return s.finish().graph;
  }
  static std::vector<float> ramp(std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = 0.25F + static_cast<float>(i % 7);
    }
    return values;
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  const std::vector<float> x_ = ramp(128);
  const Tensor weight_ = device_.from_host({64}, ramp(64), "weight");
};
INSTANTIATE_TEST_SUITE_P(On, Timing, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(Timing, OutputsAreTheSameBitsInEveryMode) {
  CapturedGraph graph = chain(9);
  std::vector<std::vector<std::byte>> results;
  for (const TimingMode mode : {TimingMode::off, TimingMode::replay, TimingMode::node,
                                TimingMode::node_serialised, TimingMode::off}) {
    graph.set_timing(mode);
    graph.launch();
    results.push_back(graph.read<std::byte>("y"));
  }
  for (const auto& result : results) {
    EXPECT_EQ(result, results[0]);
  }
}

TEST_P(Timing, DeviceTimesAreThereUnlessTimingIsOff) {
  CapturedGraph graph = chain(3);
  for (const TimingMode mode : {TimingMode::replay, TimingMode::off, TimingMode::node}) {
    executor_.set_timing(mode);
    graph.launch();
    EXPECT_EQ(graph.last_times().device_ns.has_value(), mode != TimingMode::off);
    EXPECT_EQ(graph.last_times().device_start_ns.has_value(), mode != TimingMode::off);
  }
}

TEST_P(Timing, AGraphsOwnModeGoesBeforeTheExecutors) {
  CapturedGraph graph = chain(3);
  executor_.set_timing(TimingMode::replay);
  graph.set_timing(TimingMode::off);
  graph.launch();
  EXPECT_FALSE(graph.last_times().device_ns.has_value());
  graph.set_timing(std::nullopt);
  graph.launch();
  EXPECT_TRUE(graph.last_times().device_ns.has_value());
}

TEST_P(Timing, TheModeMayChangeWithLaunchesInFlight) {
  CapturedGraph graph = chain(5);
  graph.launch();
  const auto expected = graph.read<std::byte>("y");
  std::vector<Ticket> tickets;
  for (int i = 0; i < 40; ++i) {
    graph.set_timing(i % 3 == 0 ? TimingMode::node
                                : (i % 3 == 1 ? TimingMode::replay : TimingMode::off));
    if (tickets.size() == graph.slots()) {
      EXPECT_EQ(tickets.front().read<std::byte>("y"), expected);
      tickets.erase(tickets.begin());
    }
    tickets.push_back(graph.launch_async());
  }
  for (const Ticket& ticket : tickets) {
    EXPECT_EQ(ticket.read<std::byte>("y"), expected);
  }
}

TEST_P(Timing, DirectSessionsHaveTimesToo) {
  for (const TimingMode mode : {TimingMode::off, TimingMode::node}) {
    executor_.set_timing(mode);
    auto s = executor_.begin();
    s.output("y", rms_norm(s, s.input("x", {2, 64}, x_), weight_, {.eps = 1e-5F}));
    EXPECT_EQ(s.finish().report.device_ns.has_value(), mode != TimingMode::off);
  }
}

TEST_P(Timing, AGraphThatNeverRanIsUploadedOnce) {
  auto s = executor_.begin_recorded({.name = "unrun"});
  s.output("y", rms_norm(s, s.input("x", {2, 64}, x_), weight_, {.eps = 1e-5F}));
  FinishResult result = s.finish({.run = false});
  EXPECT_EQ(result.graph.num_replays(), 0U);
  EXPECT_FALSE(result.graph.is_uploaded());
  expect_error(ErrorCode::invalid_argument, {"no launch()"}, [&] { (void)result.graph.read("y"); });
  EXPECT_GT(result.graph.upload(), 0U);
  EXPECT_TRUE(result.graph.is_uploaded());
  EXPECT_EQ(result.graph.upload(), 0U);
  result.graph.launch();
  CapturedGraph run = chain(1);
  EXPECT_EQ(result.graph.read<std::byte>("y"), run.read<std::byte>("y"));
  EXPECT_EQ(run.upload(), 0U) << "finish() ran it";
}

}  // namespace
}  // namespace reprise::testing
