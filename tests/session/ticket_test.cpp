// What a ticket answers, when a launch waits, and when it is refused. The gate keeps work in flight
// for as long as a test needs.
#include <chrono>
#include <thread>

#include "tests/session/gate_op.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

std::vector<float> doubled(std::vector<float> values) {
  for (float& value : values) {
    value += value;
  }
  return values;
}

class Tickets : public ::testing::TestWithParam<std::string> {
 protected:
  CapturedGraph doubler(std::size_t slots) {
    auto s = executor_.begin_recorded({.name = "doubler"});
    const Tensor x = s.input("x", {4}, x_);
    s.output("y", add(s, x, x));
    return s.finish({.slots = slots}).graph;
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  const std::vector<float> x_{1, 2, 3, 4}, other_{5, 6, 7, 8};
};
INSTANTIATE_TEST_SUITE_P(On, Tickets, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(Tickets, HoldTheirOutputsUntilReleased) {
  CapturedGraph graph = doubler(2);
  const Ticket first = graph.launch_async();
  graph.set_input("x", other_);
  for (int i = 0; i < 5; ++i) {
    const Ticket later = graph.launch_async();
    EXPECT_EQ(later.read("y"), doubled(other_));
  }
  EXPECT_EQ(first.read("y"), doubled(x_));
}

TEST_P(Tickets, ALaunchIsRefusedWhileTicketsHoldAllSlots) {
  CapturedGraph graph = doubler(2);
  Ticket first = graph.launch_async();
  const Ticket second = graph.launch_async();
  expect_error(ErrorCode::busy, {"(2)", "slots", "doubler", "release"},
               [&] { (void)graph.launch_async(); });
  expect_error(ErrorCode::busy, {"slots"}, [&] { graph.launch(); });
  EXPECT_EQ(first.read("y"), doubled(x_));
  first.release();
  graph.launch();
  EXPECT_EQ(graph.read("y"), doubled(x_));
  EXPECT_EQ(second.read("y"), doubled(x_));
}

TEST_P(Tickets, TheOutputsOfALaunchGiveWayToTheNext) {
  CapturedGraph graph = doubler(1);
  graph.launch();
  EXPECT_EQ(graph.read("y"), doubled(x_));
  Ticket ticket = graph.launch_async();
  expect_error(ErrorCode::invalid_argument, {"doubler", "launch_async"},
               [&] { (void)graph.read("y"); });
  EXPECT_EQ(ticket.read("y"), doubled(x_));
}

TEST_P(Tickets, OutliveTheirGraph) {
  Ticket ticket;
  {
    CapturedGraph graph = doubler(2);
    ticket = graph.launch_async();
  }
  EXPECT_EQ(ticket.read("y"), doubled(x_));
}

TEST_P(Tickets, OutliveTheirExecutor) {
  std::vector<Ticket> tickets;
  {
    GraphExecutor executor(device_);
    auto s = executor.begin();
    const Tensor x = s.input("x", {4}, x_);
    s.output("y", add(s, x, x));
    tickets.push_back(s.submit());
    auto r = executor.begin_recorded();
    const Tensor z = r.input("x", {4}, other_);
    r.output("y", add(r, z, z));
    tickets.push_back(r.finish().graph.launch_async());
  }
  EXPECT_EQ(tickets[0].read("y"), doubled(x_));
  EXPECT_EQ(tickets[1].read("y"), doubled(other_));
}

TEST_P(Tickets, ADirectSessionIsSubmittedWithoutWaiting) {
  std::vector<Ticket> tickets;
  std::vector<std::vector<float>> expected;
  for (int i = 0; i < 6; ++i) {
    const std::vector<float> x{static_cast<float>(i), 1, 2, 3};
    auto s = executor_.begin();
    const Tensor in = s.input("x", {4}, x);
    s.output("y", add(s, in, in));
    tickets.push_back(s.submit());
    expected.push_back(doubled(x));
  }
  for (std::size_t i = 0; i < tickets.size(); ++i) {
    EXPECT_EQ(tickets[i].read("y"), expected[i]);
  }
}

TEST_P(Tickets, ASubmittedSessionMayBeForgotten) {
  const Tensor kept = device_.zeros({1, 4}, DType::f32, "kept");
  {
    auto s = executor_.begin();
    const Tensor x = s.input("x", {4}, x_);
    set_rows(s, kept, reshape(s, add(s, x, x), {1, 4}), SetRowsAttributes{.position = 0});
    s.submit().release();
  }
  const auto bytes = device_.to_host(kept);
  std::vector<float> values(4);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  EXPECT_EQ(values, doubled(x_));
}

TEST_P(Tickets, KeepStateAndTimesOfTheirOwnSubmission) {
  const StateBlock state(device_, StateLayout().host("n", 1));
  auto s = executor_.begin_recorded({.name = "n", .state = state});
  const Tensor table = device_.from_host({4, 1}, std::vector<float>{10, 11, 12, 13}, "table");
  s.output("y", get_rows(s, table, s.state("n")));
  CapturedGraph graph = s.finish({.slots = 3}).graph;
  std::vector<Ticket> tickets;
  for (int n = 0; n < 3; ++n) {
    graph.set_state("n", n);
    tickets.push_back(graph.launch_async());
  }
  for (int n = 2; n >= 0; --n) {
    const Ticket& ticket = tickets[static_cast<std::size_t>(n)];
    EXPECT_EQ(ticket.state("n"), n);
    EXPECT_EQ(ticket.read("y"), std::vector<float>{10.0F + static_cast<float>(n)});
    EXPECT_GT(ticket.times().device_ns.value_or(1), 0U);
  }
  EXPECT_LT(tickets[0].times().submission, tickets[1].times().submission);
  EXPECT_EQ(graph.state("n"), 2) << "the newest, though it was read first";
}

TEST_P(Tickets, MistakesAreNamed) {
  CapturedGraph graph = doubler(2);
  Ticket ticket = graph.launch_async();
  expect_error(ErrorCode::unknown_name, {"(z)", "outputs are: y"}, [&] { (void)ticket.read("z"); });
  expect_error(ErrorCode::dtype_mismatch, {"'y'", "(i32)"},
               [&] { (void)ticket.read<std::int32_t>("y"); });
  expect_error(ErrorCode::unknown_name, {"(pos)", "none"}, [&] { (void)ticket.state("pos"); });
  ticket.release();
  ticket.release();
  EXPECT_FALSE(ticket);
  expect_error(ErrorCode::released, {"empty"}, [&] { ticket.wait(); });
  auto s = executor_.begin_recorded();
  expect_error(ErrorCode::invalid_argument, {"launch_async"}, [&] { (void)s.submit(); });
  for (const std::size_t slots : {std::size_t{0}, std::size_t{65}}) {
    auto wrong = executor_.begin_recorded();
    wrong.output("x", wrong.input("x", {4}, x_));
    expect_error(ErrorCode::invalid_argument, {"1 to 64", "(" + std::to_string(slots) + ")"},
                 [&] { (void)wrong.finish({.slots = slots}); });
  }
}

class GatedTickets : public ::testing::Test {
 protected:
  CapturedGraph gated(std::size_t slots) {
    auto s = executor_.begin_recorded({.name = "gated"});
    const Tensor x = s.input("x", {2}, std::vector<float>{1, 2});
    s.output("y", pass_gate(s, x));
    return s.finish({.slots = slots}).graph;
  }
  Device device_ = test_device("cpu");
  GraphExecutor executor_{device_};
};

TEST_F(GatedTickets, AreDoneWhenTheDeviceIs) {
  CapturedGraph graph = gated(2);
  Gate gate;
  const Ticket ticket = graph.launch_async();
  gate.wait_until_reached();
  EXPECT_FALSE(ticket.done());
  EXPECT_EQ(graph.num_replays(), 1U) << "the one inside finish()";
  gate.open();
  ticket.wait();
  EXPECT_TRUE(ticket.done());
  EXPECT_EQ(graph.num_replays(), 2U);
}

TEST_F(GatedTickets, ALaunchThatWouldWaitSaysSo) {
  CapturedGraph graph = gated(1);
  Gate gate;
  graph.launch_async().release();
  gate.wait_until_reached();
  EXPECT_FALSE(graph.try_launch_async().has_value());
  gate.open();
  const Ticket waited = graph.launch_async();
  EXPECT_EQ(waited.read("y"), (std::vector<float>{1, 2}));
}

TEST_F(GatedTickets, AHeldSlotAndABusyOneLeaveNone) {
  CapturedGraph graph = gated(2);
  const Ticket held = graph.launch_async();
  held.wait();
  Gate gate;
  graph.launch_async().release();
  gate.wait_until_reached();
  EXPECT_FALSE(graph.try_launch_async().has_value());
  gate.open();
  EXPECT_EQ(graph.launch_async().read("y"), held.read("y")) << "it waits for the busy one";
}

TEST_F(GatedTickets, ALaunchMayWaitForASlotThatAnotherThreadReleases) {
  CapturedGraph graph = gated(1);
  Gate gate;
  gate.open();
  Ticket held = graph.launch_async();
  held.wait();
  EXPECT_FALSE(graph.wait_for_slot(std::chrono::nanoseconds(0)));
  EXPECT_FALSE(graph.wait_for_slot(std::chrono::nanoseconds(1)));
  expect_error(ErrorCode::busy, {"(1) slots", "held by tickets"},
               [&] { (void)graph.launch_async({.slot_timeout = std::chrono::nanoseconds(1)}); });
  const std::jthread releases([&] { held.release(); });
  const Ticket waited = graph.launch_async({.slot_timeout = std::chrono::minutes(10)});
  EXPECT_EQ(waited.read("y"), (std::vector<float>{1, 2}));
}

TEST_F(GatedTickets, InputsMayChangeWhileALaunchIsInFlight) {
  CapturedGraph graph = gated(2);
  Gate gate;
  const Ticket first = graph.launch_async();
  gate.wait_until_reached();
  graph.set_input("x", std::vector<float>{3, 4});
  const Ticket second = graph.launch_async();
  graph.set_input("x", std::vector<float>{5, 6});
  gate.open();
  EXPECT_EQ(first.read("y"), (std::vector<float>{1, 2}));
  EXPECT_EQ(second.read("y"), (std::vector<float>{3, 4}));
}

TEST_F(GatedTickets, DirectSessionsInFlightShareNoMemory) {
  Gate gate;
  std::vector<Ticket> tickets;
  for (float i = 0; i < 3; ++i) {
    auto s = executor_.begin();
    s.output("y", pass_gate(s, s.input("x", {2}, std::vector<float>{i, i + 1})));
    tickets.push_back(s.submit());
  }
  tickets[1].release();
  auto s = executor_.begin();
  s.output("y", pass_gate(s, s.input("x", {2}, std::vector<float>{7, 8})));
  const Ticket last = s.submit();
  gate.open();
  EXPECT_EQ(tickets[0].read("y"), (std::vector<float>{0, 1}));
  EXPECT_EQ(tickets[2].read("y"), (std::vector<float>{2, 3}));
  EXPECT_EQ(last.read("y"), (std::vector<float>{7, 8}));
}

}  // namespace
}  // namespace reprise::testing
