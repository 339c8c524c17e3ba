// Capture and replay by key on an executor, and the capture of a callable.
#include <chrono>
#include <thread>

#include "tests/testing.h"

namespace reprise::testing {
namespace {

class KeyedCapture : public ::testing::TestWithParam<std::string> {
 protected:
  GraphKey key(std::string tag = "double") const {
    return {.owner = owner_, .tag = std::move(tag)};
  }
  /// Captures y = x + x.
  KeyedRun capture(GraphExecutor& executor, const GraphKey& under, FinishOptions options = {}) {
    auto s = executor.begin_graph_capture();
    const Tensor x = s.input("x", {4}, x_);
    s.output("y", add(s, x, x));
    return executor.end_graph_capture(under, s, options);
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  const GraphOwner owner_{"model"};
  const std::vector<float> x_{1, 2, 3, 4}, twice_{2, 4, 6, 8}, thrice_{4, 8, 12, 16};
};
INSTANTIATE_TEST_SUITE_P(On, KeyedCapture, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(KeyedCapture, RunsOnFirstUseAndReplays) {
  const KeyedRun missed = executor_.replay_graph(key(), {{"x", x_}});
  EXPECT_FALSE(missed);
  EXPECT_EQ(missed.miss, MissReason::absent);
  EXPECT_NE(missed.text.find("double of 'model'"), std::string::npos) << missed.text;
  const KeyedRun first = capture(executor_, key());
  EXPECT_TRUE(first);
  EXPECT_EQ(first.how, RunOutcome::recorded);
  EXPECT_EQ(first.read("y"), twice_);
  const KeyedRun second = executor_.replay_graph(key(), {{"x", twice_}});
  EXPECT_TRUE(second);
  EXPECT_EQ(second.how, RunOutcome::replayed);
  EXPECT_EQ(second.read("y"), thrice_);
  EXPECT_EQ(first.read("y"), twice_);
  EXPECT_EQ(executor_.find_graph(key()).replays, 2U);
}

TEST_P(KeyedCapture, MayKeepWithoutRunning) {
  const KeyedRun kept = capture(executor_, key(), {.run = false});
  EXPECT_FALSE(kept);
  EXPECT_EQ(executor_.find_graph(key()).replays, 0U);
  EXPECT_EQ(executor_.replay_graph(key(), {{"x", x_}}).read("y"), twice_);
}

TEST_P(KeyedCapture, AReplayMayWaitForATicketOfAnotherThread) {
  KeyedRun first = capture(executor_, key(), {.slots = 1});
  const KeyedRun busy =
      executor_.replay_graph(key(), {{"x", x_}}, {.slot_timeout = std::chrono::nanoseconds(1)});
  EXPECT_EQ(busy.miss, MissReason::busy);
  const std::jthread releases([&] { first.ticket.release(); });
  const KeyedRun second =
      executor_.replay_graph(key(), {{"x", twice_}}, {.slot_timeout = std::chrono::minutes(10)});
  EXPECT_EQ(second.how, RunOutcome::replayed) << second.text;
  EXPECT_EQ(second.read("y"), thrice_);
}

TEST_P(KeyedCapture, AReplayTakesAllInputs) {
  (void)capture(executor_, key());
  expect_error(ErrorCode::missing_input, {"'x'", "one value"},
               [&] { (void)executor_.replay_graph(key()); });
}

TEST_P(KeyedCapture, AnExceptionLeavesNoCaptureOpen) {
  EXPECT_THROW(
      {
        auto s = executor_.begin_graph_capture();
        (void)s.input("x", {3}, x_);
      },
      Error);
  EXPECT_EQ(capture(executor_, key()).read("y"), twice_);
}

TEST_P(KeyedCapture, ResetsAreCountedAndScopedToTheExecutor) {
  GraphExecutor other(device_);
  const KeyedRun held = capture(executor_, key());
  (void)capture(executor_, key("b"));
  (void)capture(other, key());
  EXPECT_EQ(executor_.reset_graph(key()), 1U);
  EXPECT_EQ(executor_.reset_graph(key()), 0U);
  EXPECT_EQ(executor_.replay_graph(key(), {{"x", x_}}).miss, MissReason::reset);
  EXPECT_EQ(held.read("y"), twice_);
  EXPECT_EQ(executor_.reset_all_graphs(), 1U);
  EXPECT_EQ(other.replay_graph(key(), {{"x", x_}}).read("y"), twice_);
}

TEST_P(KeyedCapture, ASecondCaptureTakesThePlaceOfTheFirst) {
  const KeyedRun first = capture(executor_, key());
  const KeyedRun second = capture(executor_, key());
  EXPECT_EQ(first.read("y"), twice_);
  EXPECT_EQ(second.read("y"), twice_);
  EXPECT_EQ(executor_.graph_counters().graphs, 1U);
  EXPECT_EQ(executor_.graph_counters().evicted, 0U);
}

TEST_P(KeyedCapture, AnotherStructureIsRefusedAndTheFirstStays) {
  (void)capture(executor_, key());
  auto s = executor_.begin_graph_capture();
  const Tensor x = s.input("x", {4}, x_);
  s.output("y", add(s, add(s, x, x), x));
  expect_error(ErrorCode::invalid_argument,
               {"op 0 add", "keyed_capture_test.cpp:", "first node that differs"},
               [&] { (void)executor_.end_graph_capture(key(), s); });
  EXPECT_EQ(executor_.replay_graph(key(), {{"x", x_}}).read("y"), twice_);
}

TEST_P(KeyedCapture, MistakesAreNamed) {
  auto direct = executor_.begin();
  expect_error(ErrorCode::invalid_argument, {"direct", "begin_graph_capture"},
               [&] { (void)executor_.end_graph_capture(key(), direct); });
  GraphExecutor other(device_);
  auto foreign = other.begin_graph_capture();
  expect_error(ErrorCode::invalid_argument, {"another executor"},
               [&] { (void)executor_.end_graph_capture(key(), foreign); });
  expect_error(ErrorCode::invalid_argument, {"owner"},
               [&] { (void)executor_.replay_graph({.tag = "double"}); });
}

TEST_P(KeyedCapture, ACallableIsCapturedAndRun) {
  const auto pass = [&](GraphSession& s) {
    const Tensor x = s.input("x", {4}, x_);
    s.output("y", add(s, x, x));
  };
  FinishResult result = executor_.capture(pass, {.name = "double"});
  EXPECT_EQ(result.read("y"), twice_);
  result.graph.set_input("x", twice_);
  result.graph.launch();
  EXPECT_EQ(result.graph.read("y"), thrice_);
  EXPECT_EQ(executor_.capture(pass, {}, {.run = false}).graph.num_replays(), 0U);
  EXPECT_THROW((void)executor_.capture([](GraphSession&) { throw std::string("mine"); }),
               std::string);
}

TEST_P(KeyedCapture, ASessionIsGivenItsInputsByName) {
  for (const bool recorded : {false, true}) {
    const SessionOptions options{.inputs = {{"x", x_}}};
    auto s = recorded ? executor_.begin_recorded(options) : executor_.begin(options);
    const Tensor x = s.input("x", {4});
    s.output("y", add(s, x, x));
    EXPECT_EQ(s.finish().read("y"), twice_);
    auto t = executor_.begin(options);
    expect_error(ErrorCode::dtype_mismatch, {"'x' is f32 [2, 2]", "(i32)"}, [&] {
      auto u = executor_.begin({.inputs = {{"x", std::vector<std::int32_t>{1, 2, 3, 4}}}});
      (void)u.input("x", {2, 2});
    });
    expect_error(ErrorCode::missing_input, {"'z'", "no values"}, [&] { (void)t.input("z", {4}); });
    auto v = executor_.begin(options);
    expect_error(ErrorCode::unknown_name, {"'x'", "does not declare"}, [&] { (void)v.finish(); });
    const SessionOptions twice{.inputs = {{"x", x_}, {"x", twice_}}};
    auto w = recorded ? executor_.begin_recorded(twice) : executor_.begin(twice);
    w.output("y", w.input("x", {4}));
    expect_error(ErrorCode::invalid_argument, {"'x'", "one value"}, [&] { (void)w.finish(); });
  }
}

}  // namespace
}  // namespace reprise::testing
