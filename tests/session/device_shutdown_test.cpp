// A device's end by its user: what was submitted completes, nothing new is taken.
#include <atomic>
#include <functional>
#include <thread>

#include "reprise/backend/backend.h"
#include "tests/session/gate_op.h"
#include "tests/session/tensor_values.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

const std::vector<float> kGiven{1, 2, 3, 4}, kDoubled{2, 4, 6, 8};

class DeviceShutdown : public ::testing::TestWithParam<std::string> {
 protected:
  CapturedGraph doubler() {
    auto s = executor_.begin_recorded();
    const Tensor x = s.input("x", {4}, kGiven);
    s.output("y", add(s, x, x));
    return s.finish().graph;
  }
  template <class F>
  static void expect_refused(F&& f) {
    expect_error(ErrorCode::shut_down, {"was shut down", "open it again"}, f);
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = fresh_test_device(GetParam());
  GraphExecutor executor_{device_};
};
INSTANTIATE_TEST_SUITE_P(On, DeviceShutdown, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(DeviceShutdown, WhatIsInFlightCompletesAndStaysReadable) {
  CapturedGraph graph = doubler(), other = doubler();
  graph.launch();
  const Ticket ticket = other.launch_async();
  device_.shutdown();
  EXPECT_TRUE(ticket.done());
  EXPECT_EQ(ticket.read("y"), kDoubled);
  EXPECT_EQ(graph.read("y"), kDoubled);
  device_.synchronize();
  device_.shutdown();
  EXPECT_EQ(device_.status().in_flight, 0U);
}

TEST_P(DeviceShutdown, EverythingThatMakesNewWorkIsRefused) {
  CapturedGraph graph = doubler();
  auto direct = executor_.begin(), recorded = executor_.begin_recorded();
  const Tensor x = direct.input("x", {4}, kGiven), z = recorded.input("x", {4}, kGiven);
  direct.output("y", add(direct, x, x));
  recorded.output("y", add(recorded, z, z));
  const Tensor w = device_.from_host({4}, kGiven, "w");
  device_.shutdown();
  Backend& backend = device_.backend();
  expect_refused([&] { (void)device_.zeros({4}, DType::f32); });
  expect_refused([&] { (void)device_.allocate("b", 64, BufferKind::download); });
  expect_refused([&] { (void)backend.encoder({}); });
  expect_refused([&] { (void)backend.submit({}, AfterSubmit::will_wait); });
  expect_refused([&] { (void)backend.timestamps(2); });
  expect_refused([&] { (void)backend.host_signal(); });
  expect_refused([&] { (void)GraphExecutor(device_); });
  expect_refused([&] { graph.launch(); });
  expect_refused([&] { (void)graph.launch_async(); });
  expect_refused([&] { (void)direct.finish(); });
  expect_refused([&] { (void)recorded.finish(); });
  EXPECT_NO_THROW(device_.free(w));
}

TEST_P(DeviceShutdown, OpeningItAgainWorks) {
  device_.shutdown();
  device_ = fresh_test_device(GetParam());
  executor_ = GraphExecutor(device_);
  CapturedGraph graph = doubler();
  graph.launch();
  EXPECT_EQ(graph.read("y"), kDoubled);
}

TEST_P(DeviceShutdown, LeavesOtherDevicesAlone) {
  const Device other = fresh_test_device(GetParam());
  device_.shutdown();
  EXPECT_EQ(other.to_host<float>(other.from_host({4}, kGiven)), kGiven);
}

TEST_P(DeviceShutdown, ThreadsThatLaunchMeanwhileFinishOrAreRefused) {
  std::vector<CapturedGraph> graphs;
  for (int i = 0; i < 3; ++i) {
    graphs.push_back(doubler());
  }
  std::atomic<std::uint32_t> launches{0};
  std::vector<std::thread> threads;
  for (CapturedGraph& graph : graphs) {
    threads.emplace_back([&graph, &launches] {
      try {
        while (true) {
          const Ticket ticket = graph.launch_async();
          EXPECT_EQ(ticket.read("y"), kDoubled);
          ++launches;
        }
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::shut_down) << error.what();
      }
    });
  }
  while (launches < 20) {
    std::this_thread::yield();
  }
  device_.shutdown();
  const DeviceStatus status = device_.status();
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(status.completed, status.submitted);
  EXPECT_EQ(device_.status().submitted, status.submitted);
}

TEST_P(DeviceShutdown, SynchronizingCoversWhatWasSubmittedBefore) {
  CapturedGraph graph = doubler();
  const Ticket work = graph.launch_async();
  const Ticket all = device_.synchronize_async();
  EXPECT_TRUE(all);
  all.wait();
  EXPECT_TRUE(work.done());
  EXPECT_TRUE(all.done());
  expect_error(ErrorCode::invalid_argument, {"no outputs"}, [&] { (void)all.read("y"); });
  expect_error(ErrorCode::invalid_argument, {"no outputs"}, [&] { (void)all.times(); });
}

TEST(CpuShutdown, WaitsForWorkThatIsStillRunning) {
  const Device device = open_device("cpu");
  GraphExecutor executor(device);
  Gate gate;
  auto s = executor.begin();
  s.output("y", pass_gate(s, s.input("x", {4}, kGiven)));
  const Ticket ticket = s.submit();
  gate.wait_until_reached();
  const Ticket all = device.synchronize_async();
  EXPECT_FALSE(all.done());
  std::thread ending([&] { device.shutdown(); });
  while (device.status().state == DeviceState::ready) {
    std::this_thread::yield();
  }
  expect_error(ErrorCode::shut_down, {"was shut down"}, [&] { (void)executor.begin().finish(); });
  EXPECT_FALSE(ticket.done());
  gate.open();
  ending.join();
  EXPECT_TRUE(ticket.done());
  EXPECT_TRUE(all.done());
  EXPECT_EQ(ticket.read("y"), kGiven);
}

}  // namespace
}  // namespace reprise::testing
