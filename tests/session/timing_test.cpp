// Timing modes: each has its own encoding, none changes a result, and they can change between
// launches.
#include <algorithm>
#include <atomic>
#include <thread>

#include "framework/profile/profile_reader.h"
#include "reprise/backend/backend.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
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

TEST_P(Timing, TheModeMayChangeOnAnotherThread) {
  CapturedGraph graph = chain(5);
  graph.launch();
  const auto expected = graph.read<std::byte>("y");
  std::atomic<bool> stop = false;
  std::thread switcher([&] {
    for (int i = 0; !stop; ++i) {
      executor_.set_timing(i % 2 == 0 ? TimingMode::node : TimingMode::off);
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 50; ++i) {
    graph.launch();
    EXPECT_EQ(graph.read<std::byte>("y"), expected);
  }
  stop = true;
  switcher.join();
}

TEST_P(Timing, DirectSessionsHaveTimesToo) {
  for (const TimingMode mode : {TimingMode::off, TimingMode::node}) {
    executor_.set_timing(mode);
    auto s = executor_.begin();
    s.output("y", rms_norm(s, s.input("x", {2, 64}, x_), weight_, {.eps = 1e-5F}));
    EXPECT_EQ(s.finish().report.device_ns.has_value(), mode != TimingMode::off);
  }
}

TEST_P(Timing, TheNodeThatTookLongestInAllIsNamedFirst) {
  const test::TempFolder folder;
  const auto path = folder / "slow_node.db";
  {
    GraphExecutor executor(device_, {.profile = path, .run = {}, .log = {}});
    executor.set_timing(TimingMode::node);
    const std::vector<float> values = ramp(std::size_t{256} * 256);
    const Tensor w = device_.from_host({256, 256}, values, "w");
    auto s = executor.begin_recorded({.name = "one slow node"});
    Tensor x = s.input("x", {256, 256}, values);
    Tensor y = s.input("y", {4}, ramp(4));
    for (int i = 0; i < 8; ++i) {
      y = add(s, y, y);
    }
    {
      const auto scope = s.scope("slow");
      x = matmul(s, x, w);
    }
    for (int i = 0; i < 8; ++i) {
      y = add(s, y, y);
    }
    s.output("x", x);
    s.output("y", y);
    CapturedGraph graph = s.finish().graph;
    for (int i = 0; i < 10; ++i) {
      graph.launch();
    }
  }
  const TopNodes top = read_top_nodes(path, {});
  ASSERT_EQ(top.nodes.size(), 17U);
  EXPECT_TRUE(top.timestamp_bias_ns.has_value());
  const auto product =
      std::ranges::find(top.nodes, "matmul", [](const NodeTimes& times) { return times.node.op; });
  ASSERT_NE(product, top.nodes.end());
  EXPECT_EQ(product->node.scope, "slow");
  EXPECT_EQ(product->replays, 10U) << "the warm-up is left out";
  // Which one it is follows from the times as they were taken: any node can be interrupted.
  const std::string order = test::sql(
      path,
      "SELECT group_concat(node) FROM (SELECT t.node FROM v_node_timings t JOIN replays r "
      "ON r.id=t.replay_id WHERE NOT r.warm_up GROUP BY t.node ORDER BY sum(t.dur_ns) "
      "DESC, t.node)");
  std::string listed;
  for (const NodeTimes& times : top.nodes) {
    listed += (listed.empty() ? "" : ",") + std::to_string(times.node.index);
  }
  EXPECT_EQ(listed, order);
  EXPECT_EQ(test::sql(path, "SELECT node FROM v_top_nodes LIMIT 1"),
            std::to_string(top.nodes[0].node.index));
}

TEST_P(Timing, StepTimesInTheDatabaseLieInsideTheReplay) {
  const test::TempFolder folder;
  const auto path = folder / "step_times.db";
  constexpr int kOps = 7, kLaunches = 8;
  {
    GraphExecutor executor(device_, {.profile = path, .run = {}, .log = {}});
    auto s = executor.begin_recorded({.name = "chain"});
    Tensor x = s.input("x", {2, 64}, x_);
    for (int i = 0; i < kOps; ++i) {
      x = rms_norm(s, x, weight_, {.eps = 1e-5F});
    }
    s.output("y", x);
    CapturedGraph graph = s.finish({.slots = 3}).graph;
    const TimingMode modes[] = {TimingMode::node, TimingMode::node_serialised, TimingMode::replay,
                                TimingMode::off};
    for (int i = 0; i < kLaunches; ++i) {
      graph.set_timing(modes[i % 4]);
      graph.launch_async().release();  // nobody waits: the database has them all the same
    }
    const auto scope = executor.host_scope("by hand");
  }
  EXPECT_EQ(test::sql(path, "SELECT count(*) FROM replays"), std::to_string(kLaunches + 1));
  EXPECT_EQ(test::sql(path,
                      "SELECT group_concat(n) FROM (SELECT count(*) AS n FROM replays GROUP "
                      "BY timing_mode)"),
            device_.backend().traits().overlaps_dispatches ? "2,3,4" : "2,3,2,2");
  EXPECT_EQ(test::sql(path, "SELECT count(*) FROM v_step_timings"),
            std::to_string(kOps * kLaunches / 2));
  EXPECT_EQ(test::sql(path,
                      "SELECT count(*) FROM v_step_timings t JOIN replays r ON r.id=t.replay_id "
                      "WHERE t.start_ns<0 OR t.start_ns+t.dur_ns>r.device_ns+1"),
            std::to_string(0));
  EXPECT_NE(test::sql(path, "SELECT count(*) FROM clock_sync"), "0");
  EXPECT_NE(
      test::sql(path, "SELECT count(*) FROM scopes WHERE name='chain' AND category='session'"),
      "0");
  EXPECT_EQ(test::sql(path, "SELECT category FROM scopes WHERE name='by hand'"), "user");
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
