// Every field of a device's status, seen to change.
#include <thread>

#include "reprise/backend/backend.h"
#include "reprise/backend/step.h"
#include "tests/session/custom_kernels.h"
#include "tests/session/gate_op.h"
#include "tests/session/tensor_values.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

const std::vector<float> kFour{1, 2, 3, 4};

class DeviceStatusOf : public ::testing::TestWithParam<std::string> {
 protected:
  CapturedGraph doubler() {
    auto s = executor_.begin_recorded({.name = "doubler"});
    const Tensor x = s.input("x", {4}, kFour);
    s.output("y", add(s, x, x));
    return s.finish().graph;
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = fresh_test_device(GetParam());
  GraphExecutor executor_{device_};
};
INSTANTIATE_TEST_SUITE_P(On, DeviceStatusOf, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(DeviceStatusOf, SubmissionsAreCountedAsTheyAreMadeAndComplete) {
  CapturedGraph graph = doubler();
  device_.synchronize();
  const DeviceStatus before = device_.status();
  EXPECT_EQ(before.state, DeviceState::ready);
  EXPECT_EQ(before.submitted, device_.backend().last_submission());
  EXPECT_EQ(before.completed, before.submitted);
  EXPECT_EQ(before.in_flight, 0U);
  graph.launch();
  graph.launch();
  const DeviceStatus after = device_.status();
  EXPECT_EQ(after.submitted, before.submitted + 2);
  EXPECT_EQ(after.completed, before.completed + 2);
}

TEST_P(DeviceStatusOf, AllocationsAreCounted) {
  const std::uint64_t before = device_.status().allocations;
  const Tensor a = device_.zeros({4}, DType::f32), b = device_.zeros({4}, DType::f32);
  EXPECT_GE(device_.status().allocations, before + 2);
  EXPECT_EQ(device_.status().allocations, device_.backend().allocation_count());
}

TEST_P(DeviceStatusOf, MemoryIsThatOfTheTensorsThatAreAlive) {
  const MemoryInfo before = device_.status().memory;
  {
    const Tensor t = device_.zeros({1000}, DType::f32, "t");
    const MemoryInfo now = device_.status().memory;
    EXPECT_GE(now.of(MemoryPurpose::tensors).bytes, before.of(MemoryPurpose::tensors).bytes + 4000);
    EXPECT_EQ(now.of(MemoryPurpose::tensors).buffers,
              before.of(MemoryPurpose::tensors).buffers + 1);
  }
  EXPECT_EQ(device_.status().memory.of(MemoryPurpose::tensors).bytes,
            before.of(MemoryPurpose::tensors).bytes);
  EXPECT_GE(device_.status().memory.of(MemoryPurpose::tensors).peak,
            before.of(MemoryPurpose::tensors).bytes + 4000);
}

TEST_P(DeviceStatusOf, KernelsAreCountedWhereThereAreAny) {
  CapturedGraph first = doubler();
  const KernelCounters once = device_.status().kernels;
  CapturedGraph second = doubler();
  const KernelCounters twice = device_.status().kernels;
  CapturedGraph third = doubler();
  if (GetParam() == "cpu") {
    EXPECT_EQ(twice.created + twice.reused + twice.create_ns, 0U);
    return;
  }
  EXPECT_GE(once.created, 1U);
  EXPECT_GT(once.create_ns, 0U);
  EXPECT_EQ(twice.created, once.created);
  EXPECT_EQ(twice.create_ns, once.create_ns);
  EXPECT_GT(twice.reused, once.reused);
  EXPECT_GT(device_.status().kernels.reused, twice.reused);
}

TEST_P(DeviceStatusOf, TheLastErrorOfARecordingNamesItsOpAndScope) {
  EXPECT_FALSE(device_.status().last_error);
  auto s = executor_.begin_recorded({.name = "bad"});
  const Tensor x = s.input("x", {4}, kFour);
  const Tensor sum = add(s, x, x);
  try {
    const auto scope = s.scope("mlp");
    (void)add(s, sum, s.input("three", {3}, std::vector<float>{1, 2, 3}));
    FAIL() << "shapes do not fit";
  } catch (const Error& error) {
    const auto kept = device_.status().last_error;
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->code, ErrorCode::invalid_argument);
    EXPECT_EQ(kept->message, error.what());
    EXPECT_EQ(kept->op, 1U);
    EXPECT_EQ(kept->scope, "mlp");
    EXPECT_GT(kept->time_ns, 0);
    EXPECT_LE(kept->time_ns, std::chrono::steady_clock::now().time_since_epoch().count());
  }
}

TEST_P(DeviceStatusOf, AShutDownDeviceSaysSo) {
  device_.shutdown();
  EXPECT_EQ(device_.status().state, DeviceState::shut_down);
  EXPECT_EQ(name_of(device_.status().state), "shut down");
}

TEST(DeviceStatusOfTheCpu, WorkIsInFlightUntilItIsDone) {
  const Device device = open_device("cpu");
  GraphExecutor executor(device);
  Gate gate;
  auto s = executor.begin();
  s.output("y", pass_gate(s, s.input("x", {4}, kFour)));
  const Ticket ticket = s.submit();
  gate.wait_until_reached();
  const DeviceStatus during = device.status();
  EXPECT_EQ(during.in_flight, 1U);
  EXPECT_EQ(during.completed, during.submitted - 1);
  gate.open();
  ticket.wait();
  EXPECT_EQ(device.status().in_flight, 0U);
}

TEST(DeviceStatusOfTheCpu, WhatWasCompleteBeforeAFailureStaysReadable) {
  const Device device = open_device("cpu");
  const CustomKernel broken = device.compile_kernel(
      {.name = "broken",
       .function = [](const KernelRun&) { throw std::runtime_error("the function broke"); }},
      elementwise_interface());
  GraphExecutor executor(device);
  auto s = executor.begin_recorded();
  const Tensor x = s.input("x", {4}, kFour);
  s.output("y", add(s, x, x));
  CapturedGraph graph = s.finish({.slots = 2, .run = false}).graph;
  const Ticket first = graph.launch_async();
  graph.launch_async().wait();  // so the first one is complete, though nobody looked at it
  auto failing = executor.begin();
  const Tensor z = failing.input("x", {4}, kFour);
  failing.output("y", call(failing, broken, add(failing, z, z), z));
  expect_error(ErrorCode::device_lost, {"the function broke"}, [&] { (void)failing.finish(); });
  EXPECT_EQ(first.read("y"), (std::vector<float>{2, 4, 6, 8}));
}

TEST(DeviceStatusOfTheCpu, AFailureLosesItAndOpeningItAgainWorks) {
  const Device device = open_device("cpu");
  const auto buffer = device.allocate("b", 64);
  // An op whose host function throws is what a broken driver is to a GPU.
  OpDef broken;
  broken.name = "broken";
  broken.reference = [](const HostCall&) { throw std::runtime_error("the function broke"); };
  StepList steps;
  steps.call({broken, StepList::kNoNode, {}, {}, {}});
  auto encoder = device.backend().encoder({});
  encoder->step(steps, 0, {});
  const EncodingRef list[] = {encoder->finish()};
  const std::uint64_t submission = device.backend().submit(list, AfterSubmit::will_wait);
  expect_error(ErrorCode::device_lost, {"the function broke"},
               [&] { device.backend().wait(submission); });
  const DeviceStatus status = device.status();
  EXPECT_EQ(status.state, DeviceState::lost);
  EXPECT_EQ(status.completed, submission - 1);
  for (const auto& refused : std::vector<std::function<void()>>{
           [&] { (void)device.allocate("c", 64); }, [&] { (void)device.backend().encoder({}); },
           [&] { (void)device.backend().submit(list, AfterSubmit::will_wait); },
           [&] { device.synchronize(); }, [&] { device.shutdown(); },
           [&] { (void)GraphExecutor(device); }}) {
    expect_error(ErrorCode::device_lost, {"opened again", "the function broke"}, refused);
  }
  const Device again = open_device("cpu");
  EXPECT_EQ(again.status().state, DeviceState::ready);
  EXPECT_EQ(again.to_host(again.zeros({2}, DType::f32)), std::vector<std::byte>(8));
}

}  // namespace
}  // namespace reprise::testing
