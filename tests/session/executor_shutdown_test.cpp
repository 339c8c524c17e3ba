// Ending an executor's work: waiting for it, and refusing more.
#include <atomic>
#include <thread>

#include "reprise/backend/backend.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
#include "tests/session/gate_op.h"
#include "tests/session/tensor_values.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class ExecutorShutdown : public ::testing::TestWithParam<std::string> {
 protected:
  CapturedGraph doubler(const GraphExecutor& executor) {
    GraphExecutor same = executor;
    auto s = same.begin_recorded({.name = "doubler"});
    const Tensor x = s.input("x", {4}, x_);
    s.output("y", add(s, x, x));
    return s.finish().graph;
  }
  template <class F>
  static void expect_refused(F&& f) {
    expect_error(ErrorCode::shut_down, {"executor was shut down"}, f);
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  const std::vector<float> x_{1, 2, 3, 4}, doubled_{2, 4, 6, 8};
};
INSTANTIATE_TEST_SUITE_P(On, ExecutorShutdown, ::testing::Values("cpu", "vulkan"),
                         device_param_name);

TEST_P(ExecutorShutdown, SynchronizeWaitsForEverythingInFlight) {
  GraphExecutor other(device_);
  CapturedGraph mine = doubler(executor_), theirs = doubler(other);
  const Ticket first = mine.launch_async();
  const Ticket second = theirs.launch_async();
  executor_.synchronize();
  EXPECT_TRUE(first.done());
  EXPECT_TRUE(second.done()) << "the device is one";
  executor_.synchronize();
  mine.launch();
  EXPECT_EQ(mine.read("y"), doubled_);
}

TEST_P(ExecutorShutdown, WhatIsCompleteStaysReadable) {
  CapturedGraph graph = doubler(executor_);
  graph.launch();
  CapturedGraph second = doubler(executor_);
  const Ticket in_flight = second.launch_async();
  auto s = executor_.begin();
  s.output("y", add(s, s.input("x", {4}, x_), s.input("z", {4}, x_)));
  const Ticket direct = s.submit();
  executor_.shutdown();
  EXPECT_TRUE(in_flight.done());
  EXPECT_EQ(in_flight.read("y"), doubled_);
  EXPECT_EQ(direct.read("y"), doubled_);
  EXPECT_EQ(graph.read("y"), doubled_);
  EXPECT_EQ(second.num_replays(), 2U);
}

TEST_P(ExecutorShutdown, OpenSessionsAndGraphsAreRefused) {
  CapturedGraph graph = doubler(executor_);
  auto direct = executor_.begin(), recorded = executor_.begin_recorded();
  const Tensor x = direct.input("x", {4}, x_), z = recorded.input("x", {4}, x_);
  auto idle = executor_.begin();
  executor_.shutdown();
  expect_refused([&] { (void)add(direct, x, x); });
  expect_refused([&] { (void)add(recorded, z, z); });
  expect_refused([&] { (void)idle.input("x", {4}, x_); });
  auto finished = [&](GraphSession& s) {
    expect_error(ErrorCode::invalid_argument, {"invalidated", "executor was shut down"},
                 [&] { (void)s.finish(); });
  };
  finished(direct);
  finished(recorded);
  expect_error(ErrorCode::invalid_argument, {"invalidated", "executor was shut down"},
               [&] { (void)idle.submit(); });
  expect_refused([&] { (void)executor_.begin(); });
  expect_refused([&] { (void)executor_.begin_recorded(); });
  expect_refused([&] { graph.launch(); });
  expect_refused([&] { (void)graph.launch_async(); });
  expect_refused([&] { (void)graph.try_launch_async(); });
  EXPECT_EQ(graph.num_replays(), 1U);
}

TEST_P(ExecutorShutdown, IsForEveryCopyOfTheExecutorAndForNoOther) {
  GraphExecutor copy = executor_, other(device_);
  executor_.shutdown();
  expect_refused([&] { (void)copy.begin(); });
  CapturedGraph graph = doubler(other);
  graph.launch();
  EXPECT_EQ(graph.read("y"), doubled_);
}

TEST_P(ExecutorShutdown, IsIdempotentAndMayBeCalledByManyThreads) {
  CapturedGraph graph = doubler(executor_);
  const Ticket ticket = graph.launch_async();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      executor_.shutdown();
      EXPECT_TRUE(device_.backend().complete(device_.backend().last_submission()));
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  executor_.shutdown();
  EXPECT_EQ(ticket.read("y"), doubled_);
}

TEST_P(ExecutorShutdown, NothingIsSubmittedAfterIt) {
  for (int round = 0; round < 10; ++round) {
    GraphExecutor executor(device_);
    std::vector<std::thread> threads;
    std::atomic<int> launching = 0;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        CapturedGraph graph = doubler(executor);
        ++launching;
        try {
          for (;;) {
            graph.launch_async().release();
          }
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::shut_down) << error.what();
        }
      });
    }
    while (launching < 3) {
      std::this_thread::yield();
    }
    executor.shutdown();
    const std::uint64_t last = device_.backend().last_submission();
    EXPECT_TRUE(device_.backend().complete(last));
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_EQ(device_.backend().last_submission(), last);
  }
}

TEST_P(ExecutorShutdown, WritesTheProfile) {
  const test::TempFolder folder;
  const auto path = folder / "shutdown.db";
  GraphExecutor executor(device_, {.profile = path});
  CapturedGraph graph = doubler(executor);
  for (int i = 0; i < 5; ++i) {
    graph.launch();
  }
  executor.shutdown();
  EXPECT_EQ(test::sql(path, "SELECT count(*) FROM replays WHERE status=0"), "6");
  EXPECT_EQ(graph.read("y"), doubled_);
}

TEST(ShutdownInFlight, WaitsForTheWork) {
  const Device device = test_device("cpu");
  GraphExecutor executor(device);
  auto s = executor.begin_recorded();
  s.output("y", pass_gate(s, s.input("x", {2}, std::vector<float>{1, 2})));
  CapturedGraph graph = s.finish().graph;
  Gate gate;
  const Ticket ticket = graph.launch_async();
  gate.wait_until_reached();
  std::atomic<bool> done = false;
  std::thread ending([&] {
    executor.shutdown();
    done = true;
  });
  for (bool refused = false; !refused;) {
    try {
      (void)executor.begin();
    } catch (const Error&) {
      refused = true;  // though the work is not done
    }
  }
  EXPECT_FALSE(done);
  gate.open();
  ending.join();
  EXPECT_TRUE(ticket.done());
  EXPECT_EQ(ticket.read("y"), (std::vector<float>{1, 2}));
}

class Serialised : public ::testing::TestWithParam<std::string> {
 protected:
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
};
INSTANTIATE_TEST_SUITE_P(On, Serialised, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(Serialised, ExecutorsWaitBeforeEveryStepAndGiveTheSameBits) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  const auto x = random_bytes(rng, DType::f32, 6 * 64, -1, 1);
  const Tensor w =
      device_.from_host({64, 64}, DType::f32, random_bytes(rng, DType::f32, 64 * 64, -1, 1), "w");
  struct Run {
    std::vector<std::byte> y;
    FinishReport report;
  };
  const auto run = [&](bool serialize, bool recorded) {
    GraphExecutor executor(device_, {.serialize = serialize});
    auto s = recorded ? executor.begin_recorded() : executor.begin();
    const Tensor in = s.input("x", {6, 64}, DType::f32, x);
    const Tensor a = matmul(s, in, w), b = rms_norm(s, in, {});  // independent
    s.output("y", add(s, a, b));
    FinishResult result = s.finish();
    if (recorded) {
      result.graph.launch();
      EXPECT_EQ(result.graph.read<std::byte>("y"), result.read<std::byte>("y"));
    }
    return Run{result.read<std::byte>("y"), result.report};
  };
  for (const bool recorded : {false, true}) {
    const Run free = run(false, recorded), serialised = run(true, recorded);
    EXPECT_EQ(serialised.y, free.y);
    EXPECT_EQ(serialised.report.barriers, serialised.report.steps);
    EXPECT_LT(free.report.barriers, free.report.steps);
    EXPECT_EQ(free.report.arena_bytes, serialised.report.arena_bytes);
  }
}

}  // namespace
}  // namespace reprise::testing
