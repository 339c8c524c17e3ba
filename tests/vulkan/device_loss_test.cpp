// A device that is lost, or hangs, while it works.
#include <gtest/gtest.h>

#include "backends/vulkan/vulkan_backend.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
#include "tests/testing.h"
#include "tests/vulkan/fault_run.h"

namespace reprise::fault {
namespace {

using std::chrono_literals::operator""ms;
using testing::expect_error;
using Floats = std::vector<float>;

/// A graph on a device of its own; y = 2 x.
class Failing : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto s = executor_.begin_recorded();
    const Tensor x = s.input("x", {4}, x_);
    s.output("y", add(s, x, x));
    graph_ = s.finish().graph;
  }
  void TearDown() override { EXPECT_EQ(log_.validation(), ""); }

  void expect_launch_works() {
    graph_.launch();
    EXPECT_EQ(graph_.read("y"), (Floats{2, 4, 6, 8}));
  }

  Log log_;
  const Floats x_{1, 2, 3, 4};
  Device device_ = open_logged(log_, 2000ms);
  GraphExecutor executor_{device_};
  const Tensor w_ = device_.from_host({4}, x_, "w");
  CapturedGraph graph_;
};

using DeviceLoss = Failing;
INSTANTIATE_TEST_SUITE_P(At, DeviceLoss, ::testing::Values("vkQueueSubmit2", "vkWaitSemaphores"),
                         [](const auto& call) { return std::string(call.param); });

TEST_P(DeviceLoss, IsRememberedAndNamedWithoutAskingTheDeviceAgain) {
  inject({GetParam(), 1, false, VK_ERROR_DEVICE_LOST});
  expect_error(ErrorCode::device_lost, {GetParam(), "VK_ERROR_DEVICE_LOST"},
               [&] { graph_.launch(); });
  inject({});
  const std::vector<std::string> parts{"lost", "opened again", "first failure", GetParam()};
  expect_error(ErrorCode::device_lost, parts, [&] { graph_.launch(); });
  expect_error(ErrorCode::device_lost, parts, [&] { (void)device_.from_host({4}, x_, "v"); });
  expect_error(ErrorCode::device_lost, parts, [&] { (void)device_.to_host(w_); });
  for (const bool recorded : {false, true}) {
    expect_error(ErrorCode::device_lost, parts, [&] {
      auto s = recorded ? executor_.begin_recorded() : executor_.begin();
      s.output("y", add(s, s.input("x", {4}, x_), w_));
      (void)s.finish();
    });
  }
  EXPECT_EQ(calls("vkQueueSubmit2"), 0U);
  EXPECT_EQ(calls("vkWaitSemaphores"), 0U);
}

TEST_P(DeviceLoss, IsToldByTicketsAndStoredInTheDatabase) {
  const test::TempFolder folder;
  const auto path = folder / "lost.db";
  {
    GraphExecutor executor(device_, {.profile = path, .run = {}, .log = {}});
    auto s = executor.begin_recorded({.name = "lost"});
    s.output("y", add(s, s.input("x", {4}, x_), w_));
    CapturedGraph graph = s.finish().graph;
    const Ticket complete = graph.launch_async();
    EXPECT_EQ(complete.read("y"), (Floats{2, 4, 6, 8}));
    inject({GetParam(), 1, false, VK_ERROR_DEVICE_LOST});
    expect_error(ErrorCode::device_lost, {GetParam()}, [&] { graph.launch_async().wait(); });
    EXPECT_EQ(complete.read("y"), (Floats{2, 4, 6, 8})) << "what was complete stays";
    expect_error(ErrorCode::device_lost, {"first failure"}, [&] { graph.launch(); });
  }
  inject({});
  EXPECT_EQ(test::sql(path, "SELECT code, message LIKE '%" + std::string(GetParam()) +
                                "%' FROM events WHERE source='launch' ORDER BY id LIMIT 1"),
            "device_lost|1");
  EXPECT_EQ(
      test::sql(path, "SELECT group_concat(status) FROM (SELECT status FROM replays ORDER BY seq)"),
      std::string_view(GetParam()) == "vkQueueSubmit2" ? "0,0" : "0,0,2");
}

TEST_P(DeviceLoss, LeavesNothingBehindAndTheDeviceCanBeOpenedAgain) {
  Log log;
  const std::size_t before = live_objects();
  {
    const Device device = open_logged(log);
    inject({GetParam(), 3, false, VK_ERROR_DEVICE_LOST});
    EXPECT_THROW((void)run_hello(device), Error);
    inject({});
    EXPECT_TRUE(run_hello(open_logged(log))) << "opened while the lost one is there";
  }
  EXPECT_EQ(live_objects(), before);
  EXPECT_TRUE(run_hello(open_logged(log)));
  EXPECT_EQ(log.validation(), "");
}

TEST_P(DeviceLoss, IsNoConcernOfOtherDevices) {
  const Device other = open_logged(log_);
  inject({GetParam(), 1, false, VK_ERROR_DEVICE_LOST});
  EXPECT_THROW((void)run_hello(other), Error);
  expect_launch_works();
}

using FailedSubmit = Failing;

TEST_F(FailedSubmit, LosesNeitherPatchesNorInputs) {
  const StateBlock state(
      device_, StateLayout().host("rows", 1).carried("pos").carried("token").carried("done"));
  auto s = executor_.begin_recorded({.state = state});
  const Tensor next = s.input("next", {1}, std::vector<std::int32_t>{3});
  advance(s, next,
          {.position = s.state("pos"),
           .token = s.state("token"),
           .done = s.state("done"),
           .rows = s.state("rows"),
           .end_token = -1});
  s.output("next", next);
  CapturedGraph graph = s.finish().graph;
  graph.set_state("pos", 100);
  graph.set_input("next", std::vector<std::int32_t>{7});
  inject({"vkQueueSubmit2", 1, false, VK_ERROR_OUT_OF_HOST_MEMORY});
  expect_error(ErrorCode::out_of_memory, {"vkQueueSubmit2"}, [&] { graph.launch(); });
  inject({});
  EXPECT_EQ(graph.num_replays(), 1U);
  graph.launch();
  EXPECT_EQ(graph.state("pos"), 101);
  EXPECT_EQ(graph.state("token"), 7);
}

using DriverError = Failing;

TEST_F(DriverError, SaysWhichGraphAndReplayAndTheDeviceGoesOn) {
  inject({"vkQueueSubmit2", 1, false, VK_ERROR_UNKNOWN});
  expect_error(ErrorCode::driver_error,
               {"vkQueueSubmit2", "VK_ERROR_UNKNOWN", "(graph 'recorded', replay 1)"},
               [&] { graph_.launch(); });
  inject({});
  expect_launch_works();
}

TEST_F(DriverError, HasThePlaceOfTheWaitThatMetIt) {
  const Ticket ticket = graph_.launch_async();
  const std::uint64_t submission = device_.backend().last_submission();
  inject({"vkWaitSemaphores", 1, true, VK_ERROR_UNKNOWN});
  try {
    ticket.wait();
    FAIL() << "no error was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::driver_error);
    EXPECT_EQ(error.place().graph, "recorded");
    EXPECT_EQ(error.place().replay, 1U);
    EXPECT_EQ(error.place().submission, submission);
  }
  inject({});
  EXPECT_EQ(ticket.read("y"), (Floats{2, 4, 6, 8}));
}

TEST_F(DriverError, NamesTheNodeThatWasEncoded) {
  auto s = executor_.begin_recorded({.name = "late"});
  const auto scope = s.scope("head");
  const Tensor x = s.input("x", {4}, x_);
  s.output("y", silu(s, add(s, x, x)));
  inject({"vkCreateComputePipelines", 1, false, VK_ERROR_UNKNOWN});
  try {
    (void)s.finish();
    FAIL() << "no error was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::driver_error);
    EXPECT_EQ(error.place().graph, "late");
    EXPECT_EQ(error.place().op, 1U) << error.what();
    EXPECT_EQ(error.place().scope, "head");
    EXPECT_NE(std::string(error.what()).find("(while encoding op 1 silu (head)"), std::string::npos)
        << error.what();
  }
  inject({});
}

TEST(Enumerating, ADriverThatCannotStartIsNoDeviceAndNoError) {
  for (const char* call : {"vkCreateInstance", "vkEnumeratePhysicalDevices"}) {
    for (const VkResult result : {VK_ERROR_INITIALIZATION_FAILED, VK_ERROR_INCOMPATIBLE_DRIVER}) {
      inject({call, 1, true, result});
      EXPECT_TRUE(vulkan::enumerate().empty()) << call << " " << result;
      inject({});
    }
  }
  EXPECT_FALSE(vulkan::enumerate().empty());
}

TEST_F(DriverError, IsNoReasonToRunAKeyWithoutAGraphForEver) {
  GraphCache cache(executor_);
  const GraphOwner owner("model");
  const auto run = [&] {
    return cache.run({.owner = owner, .tag = "key"},
                     [&](GraphSession& s) {
                       const Tensor x = s.input("x", {4});
                       s.output("y", add(s, x, x));
                     },
                     {.inputs = {{"x", x_}}});
  };
  inject({"vkBeginCommandBuffer", 1, false, VK_ERROR_UNKNOWN});
  expect_error(ErrorCode::driver_error, {"vkBeginCommandBuffer"}, [&] { (void)run(); });
  inject({});
  EXPECT_EQ(run().how, RunOutcome::recorded);
  EXPECT_EQ(run().how, RunOutcome::replayed);
}

using Hang = Failing;

TEST_F(Hang, EndsTheWaitAndKeepsWhatTheDeviceUses) {
  inject({"vkWaitSemaphores", 1, true, VK_TIMEOUT});
  expect_error(ErrorCode::timeout, {"without progress for 2000 ms"}, [&] { graph_.launch(); });
  expect_error(ErrorCode::timeout, {"without progress for 2000 ms"}, [&] {
    auto s = executor_.begin();
    s.output("y", add(s, s.input("x", {4}, x_), w_));
    (void)s.finish();
  });
  graph_ = {};  // validation would name what is destroyed in use
  inject({});
  EXPECT_TRUE(run_hello(device_)) << "the device goes on";
}

TEST_F(Hang, OfALaunchThatCompletesAfterAllIsOneRowAndOneEvent) {
  const test::TempFolder folder;
  const auto path = folder / "hang.db";
  {
    GraphExecutor executor(device_, {.profile = path, .run = {}, .log = {}});
    auto s = executor.begin_recorded();
    s.output("y", add(s, s.input("x", {4}, x_), w_));
    CapturedGraph graph = s.finish().graph;
    const Ticket ticket = graph.launch_async();
    inject({"vkWaitSemaphores", 1, true, VK_TIMEOUT});
    expect_error(ErrorCode::timeout, {"without progress"}, [&] { ticket.wait(); });
    inject({});
    ticket.wait();
  }
  EXPECT_EQ(test::sql(path, "SELECT seq, status FROM replays ORDER BY id"), "0|0\n1|0");
  EXPECT_EQ(test::sql(path, "SELECT code FROM events WHERE source='launch'"), "timeout");
  EXPECT_EQ(test::sql(path, "SELECT submits, outcome FROM sessions"), "1|finished");
}

TEST_F(Hang, LeavesNoOutputsButATicketThatMayWaitAgain) {
  const Ticket ticket = graph_.launch_async();
  inject({"vkWaitSemaphores", 1, true, VK_TIMEOUT});
  expect_error(ErrorCode::timeout, {"without progress"}, [&] { ticket.wait(); });
  expect_error(ErrorCode::timeout, {"without progress"}, [&] { graph_.launch(); });
  expect_error(ErrorCode::invalid_argument, {"holds no outputs"}, [&] { (void)graph_.read("y"); });
  inject({});
  EXPECT_EQ(ticket.read("y"), (Floats{2, 4, 6, 8}));
  expect_launch_works();
}

TEST_F(Hang, OfOneWaitIsWaitedOut) {
  inject({"vkWaitSemaphores", 1, false, VK_TIMEOUT});
  expect_launch_works();
  EXPECT_EQ(hits(), 1U);
}

}  // namespace
}  // namespace reprise::fault
