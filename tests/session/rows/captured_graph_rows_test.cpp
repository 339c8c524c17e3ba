// What a captured graph can do, a capability per test.
#include "reprise/backend/backend.h"
#include "reprise/backend/step.h"
#include "reprise/graph/compute_graph.h"
#include "reprise/graph/execution_plan.h"
#include "tests/session/rows/held_device.h"
#include "tests/session/rows/row_test.h"

namespace reprise::testing {
namespace {

class CapturedGraphRows : public DeviceRows {
 protected:
  CapturedGraph capture(const FinishOptions& finish = {}, const std::string& name = "doubler") {
    return executor_.capture([&](GraphSession& s) { pass(s); }, {.name = name}, finish).graph;
  }
};
class CapturedGraphRowsInBothForms : public FormRows {};
INSTANTIATE_TEST_SUITE_P(On, CapturedGraphRows, ::testing::Values("cpu", "vulkan"),
                         device_param_name);
INSTANTIATE_TEST_SUITE_P(On, CapturedGraphRowsInBothForms, both_forms(), form_name);

TEST_P(CapturedGraphRows, LaunchReplaysEverythingCapturedAndCountsSuccessesOnly) {
  const StateBlock state(device_, StateLayout().carried("pos", 0, {.low = 0, .high = 3}));
  const Tensor table = device_.zeros({4, 4}, DType::f32, "table");
  auto s = executor_.begin_recorded({.name = "all", .state = state});
  const Tensor x = s.input("x", {1, 4}, x_);
  pass(s, x);
  set_rows(s, table, x, {.position = s.state("pos")});
  advance(s, s.input("next", {1}, Ints{0}), {.position = s.state("pos"), .rows = 1});
  CapturedGraph graph = s.finish({.slots = 2, .run = false}).graph;
  EXPECT_EQ(graph.num_replays(), 0U);
  graph.launch();
  graph.set_input("x", other_);
  graph.launch();
  EXPECT_EQ(graph.read("y"), result(other_));
  EXPECT_EQ(graph.state("pos"), 2);
  EXPECT_EQ(graph.num_replays(), 2U);
  {
    HeldDevice held(device_);
    const Ticket in_flight = graph.launch_async();
    EXPECT_FALSE(in_flight.done());
    EXPECT_EQ(graph.num_replays(), 2U) << "it is not known to be complete";
    const Ticket other = graph.launch_async();
    expect_error(ErrorCode::busy, {"slots"}, [&] { (void)graph.launch_async(); });
    held.open();
    other.wait();
    EXPECT_EQ(in_flight.read("y"), result(other_));
  }
  EXPECT_EQ(graph.num_replays(), 4U) << "the one without a slot is none";
  // The device moved the position to its end, where a launch would leave the range.
  EXPECT_EQ(host(table), (Floats{1, 2, 3, 4, 5, 6, 7, 8, 5, 6, 7, 8, 5, 6, 7, 8}));
  expect_error(ErrorCode::invalid_argument, {"pos"}, [&] { graph.launch(); });
  graph.set_state("pos", 0);
  device_.free(w_);
  expect_error(ErrorCode::stale, {"(w)"}, [&] { graph.launch(); });
  EXPECT_EQ(graph.num_replays(), 4U) << "nor are those that were refused";
  graph.rebind(w_, device_.from_host({4}, Floats{1, 1, 1, 1}, "ones"));
  graph.launch();
  EXPECT_EQ(graph.read("y"), (Floats{10, 12, 14, 16}));
  EXPECT_EQ(graph.state("pos"), 1);
  EXPECT_EQ(graph.num_replays(), 5U);
}

TEST_P(CapturedGraphRows, UploadMakesThePipelinesOfTheFirstLaunchOnceAndRunsNothing) {
  const Device device = fresh_device();
  GraphExecutor executor(device);
  const Tensor table = device.from_host({1, 4}, Floats(4, 7), "table");
  auto s = executor.begin_recorded();
  const Tensor x = s.input("x", {1, 4}, x_);
  set_rows(s, table, add(s, x, x), SetRowsAttributes{.position = 0});
  CapturedGraph graph = s.finish({.run = false}).graph;
  const auto compiled = [&] {
    const StepList& steps = graph.plan().steps;
    std::vector<std::uint64_t> ns;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto info = device.backend().kernel_info(steps[i].kernel);
      ns.push_back(info ? info->pipeline_create_ns : 0);
    }
    return ns;
  };
  EXPECT_FALSE(graph.is_uploaded());
  EXPECT_GT(graph.upload(), 0U);
  EXPECT_TRUE(graph.is_uploaded());
  EXPECT_EQ(graph.upload(), 0U) << "there is nothing left to do";
  const std::vector<std::uint64_t> by_upload = compiled();
  EXPECT_EQ(by_upload[0] > 0 && by_upload[1] > 0, GetParam() == "vulkan");
  EXPECT_EQ(graph.num_replays(), 0U);
  EXPECT_EQ(device.to_host<float>(table), Floats(4, 7));
  graph.launch();
  EXPECT_EQ(compiled(), by_upload);
  EXPECT_EQ(device.to_host<float>(table), (Floats{2, 4, 6, 8}));
  EXPECT_EQ(validation_message_count(device), 0U);
}

TEST_P(CapturedGraphRows, EveryGraphKeepsWhatItCapturedAndGraphsShareAPoolThatCanBeSealed) {
  CapturePool pool(device_);
  const std::weak_ptr<Buffer> weights = TensorRef(w_)->buffer;
  const std::uint64_t weight_bytes = TensorRef(w_)->buffer->bytes();
  CapturedGraph alone = capture({}, "alone");
  CapturedGraph first = capture({.pool = pool}, "first");
  CapturedGraph second = capture({.pool = pool}, "second");
  EXPECT_FALSE(alone.has_pool());
  EXPECT_TRUE(first.has_pool());
  EXPECT_EQ(first.pool(), pool);
  EXPECT_EQ(second.pool(), pool);
  EXPECT_EQ(pool.buffer_count(), 2U) << "one arena for both, and the weights";
  EXPECT_EQ(pool.bytes(), first.plan().arena_bytes + weight_bytes);
  pool.seal();
  EXPECT_TRUE(pool.sealed());
  CapturedGraph third = capture({.pool = pool}, "third");  // all it needs is there
  const Tensor others = device_.from_host({4}, Floats{1, 1, 1, 1}, "others");
  const auto with_others = [&](GraphSession& s) {
    const Tensor x = s.input("x", {4}, x_);
    s.output("y", mul(s, add(s, x, x), others));
  };
  const auto capture_others = [&] {
    return executor_.capture(with_others, {.name = "fourth"}, {.pool = pool}).graph;
  };
  expect_error(ErrorCode::invalid_argument, {"'fourth'", "(others)", "sealed"},
               [&] { (void)capture_others(); });
  EXPECT_EQ(pool.buffer_count(), 2U);
  pool.unseal();
  CapturedGraph fourth = capture_others();
  EXPECT_EQ(pool.buffer_count(), 3U);
  GraphExecutor elsewhere(fresh_device());
  expect_error(ErrorCode::invalid_argument, {"another device"}, [&] {
    (void)elsewhere.capture([&](GraphSession& s) { s.output("x", s.input("x", {4}, x_)); }, {},
                            {.pool = pool});
  });
  w_ = Tensor();  // nobody named it to the graphs
  for (float i = 0; i < 4; ++i) {
    const Floats x{i, 1, 2, 3};
    std::vector<Ticket> tickets;
    for (CapturedGraph* graph : {&first, &fourth, &alone, &second, &third}) {
      graph->set_input("x", x);
      tickets.push_back(graph->launch_async());
    }
    for (const std::size_t graph : {0U, 2U, 3U, 4U}) {
      EXPECT_EQ(tickets[graph].read("y"), result(x));
    }
    EXPECT_EQ(tickets[1].read("y"), (Floats{2 * i, 2, 4, 6}));
  }
  pool = CapturePool();
  for (CapturedGraph* graph : {&first, &second, &third, &fourth}) {
    *graph = CapturedGraph();
  }
  EXPECT_FALSE(weights.expired()) << "the graph without a pool has them";
  alone = CapturedGraph();
  EXPECT_TRUE(weights.expired());
}

TEST_P(CapturedGraphRowsInBothForms, ACaptureHasAStatusThatSaysWhichOpFailedWhereAndWhy) {
  auto s = begin();
  EXPECT_EQ(s.status().phase, SessionPhase::recording);
  pass(s);
  EXPECT_EQ(s.status().op_index, 2U);
  (void)s.finish();
  EXPECT_EQ(s.status().phase, SessionPhase::finished);
  auto t = begin();
  const Tensor x = t.input("x", {4}, x_);
  const Tensor twice = add(t, x, x);
  std::string message;
  std::uint32_t line = 0;
  try {
    const auto layer = t.scope("layer", 3);
    const auto attn = t.scope("attn");
    line = __LINE__ + 1;
    (void)rms_norm(t, twice, t.input("weight", {3}, Floats(3)));
  } catch (const Error& error) {
    message = error.what();
  }
  const SessionStatus status = t.status();
  EXPECT_EQ(name_of(status.phase), "invalidated");
  EXPECT_EQ(status.op_index, 1U);
  EXPECT_EQ(status.label, "rms_norm (layer.3/attn)");
  EXPECT_NE(message.find("f32 [3]"), std::string::npos) << message;
  EXPECT_EQ(status.reason, message);
  EXPECT_EQ(status.where.line, line);
  expect_error(ErrorCode::invalid_argument, {"invalidated", "f32 [3]"}, [&] { (void)t.finish(); });
  EXPECT_EQ(t.status().reason, message);
  auto next = begin();
  pass(next);
  EXPECT_EQ(next.finish().read("y"), result(x_));
}

TEST_P(CapturedGraphRows, ASessionDiscardsItselfAndCaptureWrapsACallable) {
  const std::uint64_t before = submissions();
  EXPECT_THROW((void)executor_.capture([&](GraphSession& s) {
    pass(s);
    throw std::string("of the pass");
  }),
               std::string);
  {
    auto forgotten = executor_.begin_recorded();
    pass(forgotten);
  }
  EXPECT_EQ(submissions(), before) << "nothing ran, nothing is open";
  int calls = 0;
  FinishResult captured = executor_.capture(
      [&](GraphSession& s) {
        ++calls;
        pass(s);
      },
      {.name = "doubler"}, {.slots = 5});
  EXPECT_EQ(captured.read("y"), result(x_));
  EXPECT_EQ(captured.graph.graph().name, "doubler");
  EXPECT_EQ(captured.graph.slots(), 5U);
  captured.graph.set_input("x", other_);
  captured.graph.launch();
  EXPECT_EQ(captured.graph.read("y"), result(other_));
  EXPECT_EQ(calls, 1);
}

TEST_P(CapturedGraphRowsInBothForms, ADeviceScalarIsUpdatedBeforeALaunchAndRacesNoneInFlight) {
  constexpr std::int32_t kLaunches = 6;
  const StateBlock state(device_, StateLayout().host("row").host_f32("eps"));
  const DeviceScalar<std::int32_t> row(state, "row");
  const DeviceScalar<float> eps(state, "eps");
  const DeviceScalar<float> alone(device_, "alone", 0.5F);
  EXPECT_EQ(alone.get(), 0.5F);
  const Tensor table = device_.from_host({6, 1}, Floats{10, 11, 12, 13, 14, 15}, "table");
  const auto record = [&](GraphSession& s) {
    s.output("row", get_rows(s, table, row.in(s)));
    s.output("norm", rms_norm(s, s.input("x", {1, 1}, Floats{1}), {}, {.eps = eps.in(s)}));
  };
  CapturedGraph graph;
  if (recorded()) {
    graph = executor_.capture(record, {.state = state}, {.slots = kLaunches, .run = false}).graph;
  }
  HeldDevice held(device_);
  std::vector<Ticket> tickets;
  for (std::int32_t i = 0; i < kLaunches; ++i) {
    row.set(i);
    eps.set(i % 2 == 0 ? 3.0F : 15.0F);
    if (recorded()) {
      tickets.push_back(graph.launch_async());
    } else {
      auto s = executor_.begin({.state = state});
      record(s);
      tickets.push_back(s.submit());
    }
  }
  row.set(5);
  eps.set(0.0F);
  held.open();
  for (std::int32_t i = 0; i < kLaunches; ++i) {
    const Ticket& ticket = tickets[static_cast<std::size_t>(i)];
    EXPECT_EQ(ticket.read("row"), Floats{10.0F + static_cast<float>(i)});
    EXPECT_EQ(ticket.read("norm"), Floats{i % 2 == 0 ? 0.5F : 0.25F});
  }
  EXPECT_EQ(row.get(), 5);
  EXPECT_EQ(eps.get(), 15.0F) << "of the last launch";
}

}  // namespace
}  // namespace reprise::testing
