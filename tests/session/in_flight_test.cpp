// Graphs and buffers that go, grow and change while launches that use them are in flight: nothing
// waits, and every launch gives what it was launched for.
#include "tests/session/gate_op.h"
#include "tests/session/tensor_values.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

constexpr std::size_t kLaunches = 6;
constexpr std::int64_t kRows = 64, kColumns = 256;

class InFlight : public ::testing::TestWithParam<std::string> {
 protected:
  Tensor rows(float value, const char* name) {
    return device_.from_host({kRows, kColumns}, numbers(value), name);
  }
  static std::vector<float> numbers(float value) {
    return std::vector<float>(kRows * kColumns, value);
  }
  /// y = x doubled many times, then times w: long enough to be in flight when launch returns.
  CapturedGraph graph(const Tensor& w) {
    auto s = executor_.begin_recorded({.name = "busy"});
    Tensor x = s.input("x", {kRows, kColumns}, numbers(1));
    for (int i = 0; i < 20; ++i) {
      x = add(s, x, w);
    }
    s.output("y", mul(s, x, w));
    return s.finish({.slots = kLaunches, .run = false}).graph;
  }
  std::vector<Ticket> launch(CapturedGraph& graph) {
    std::vector<Ticket> tickets;
    while (tickets.size() < kLaunches) {
      tickets.push_back(graph.launch_async());
    }
    return tickets;
  }
  /// (1 + 20 w) w
  static void expect_results(const std::vector<Ticket>& tickets, float w) {
    for (const Ticket& ticket : tickets) {
      EXPECT_EQ(ticket.read("y"), numbers((1 + 20 * w) * w));
    }
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
};
INSTANTIATE_TEST_SUITE_P(On, InFlight, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(InFlight, GraphsMayBeDestroyed) {
  const Tensor w = rows(2, "w");
  std::vector<Ticket> tickets;
  {
    CapturedGraph dying = graph(w);
    tickets = launch(dying);
  }
  expect_results(tickets, 2);
  {
    CapturedGraph dying = graph(w);
    launch(dying).clear();
  }
  CapturedGraph next = graph(w);  // may get the memory of the one before
  expect_results(launch(next), 2);
}

TEST_P(InFlight, ExecutorsGraphsAndTensorsMayAllBeDestroyed) {
  std::vector<Ticket> tickets;
  {
    Tensor w = rows(3, "w");
    CapturedGraph dying = graph(w);
    tickets = launch(dying);
    w = Tensor();
    executor_ = GraphExecutor(device_);
  }
  expect_results(tickets, 3);
}

TEST_P(InFlight, BuffersMayBeFreed) {
  const Tensor w = rows(2, "w");
  CapturedGraph stale = graph(w);
  const std::vector<Ticket> tickets = launch(stale);
  device_.free(w);
  expect_error(ErrorCode::stale, {"'busy'", "(w)"}, [&] { (void)stale.launch_async(); });
  expect_results(tickets, 2);
  EXPECT_EQ(TensorRef(w)->buffer->mapped(), nullptr) << "it went with the last launch";
}

TEST_P(InFlight, BuffersMayGrow) {
  const Tensor w = rows(2, "w");
  CapturedGraph stale = graph(w);
  const std::vector<Ticket> tickets = launch(stale);
  const Tensor grown = device_.grow(w, {kRows + 1, kColumns});
  expect_error(ErrorCode::stale, {"'busy'", "(w)"}, [&] { (void)stale.launch_async(); });
  expect_results(tickets, 2);
  std::vector<float> expected = numbers(2);
  expected.resize(expected.size() + kColumns);
  EXPECT_EQ(device_.to_host<float>(grown), expected);
}

TEST_P(InFlight, BuffersMayBeRebound) {
  const Tensor w = rows(2, "w"), other = rows(3, "other");
  CapturedGraph rebound = graph(w);
  std::vector<Ticket> before = launch(rebound);
  rebound.rebind(w, other);
  before.resize(kLaunches / 2);  // slots for launches with the other one
  std::vector<Ticket> after;
  while (after.size() < kLaunches / 2) {
    after.push_back(rebound.launch_async());
  }
  device_.free(w);
  expect_results(before, 2);
  expect_results(after, 3);
  EXPECT_EQ(rebound.stale(), std::nullopt);
}

/// Work in flight for as long as the gate is closed.
TEST(InFlightBehindAGate, AGraphAndItsExecutorGoWithTheLastLaunch) {
  const Device device = test_device("cpu");
  std::weak_ptr<Buffer> buffer;
  Gate gate;
  Ticket ticket;
  {
    GraphExecutor executor(device);
    const Tensor w = device.from_host({2}, std::vector<float>{1, 2}, "w");
    buffer = TensorRef(w)->buffer;
    auto s = executor.begin_recorded({.name = "gated"});
    s.output("y", pass_gate(s, w));
    CapturedGraph graph = s.finish({.run = false}).graph;
    ticket = graph.launch_async();
    graph.launch_async().release();
    gate.wait_until_reached();
  }
  EXPECT_FALSE(ticket.done());
  EXPECT_FALSE(buffer.expired()) << "in flight";
  gate.open();
  EXPECT_EQ(ticket.read("y"), (std::vector<float>{1, 2}));
}

}  // namespace
}  // namespace reprise::testing
