// Arrays of the state: who owns them, when they change, what replays in flight see.
#include "reprise/backend/backend.h"
#include "tests/session/tensor_values.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class StateArrays : public ::testing::TestWithParam<std::string> {
 protected:
  /// y = table[ids of that array], with a table of 0, 10, 20, 30.
  CapturedGraph gather(const StateBlock& state, std::string_view array) {
    auto s = executor_.begin_recorded({.state = state});
    record_gather(s, array);
    return s.finish().graph;
  }
  void record_gather(GraphSession& s, std::string_view array) const {
    const Tensor table = device_.from_host({4, 1}, Floats{0, 10, 20, 30}, "table");
    s.output("y", get_rows(s, table, s.state_array(array)));
  }
  /// Every replay adds one to each element of the carried array "sums".
  CapturedGraph counter(const StateBlock& state, std::size_t slots = 2) {
    auto s = executor_.begin_recorded({.state = state});
    const Tensor sums = s.state_array("sums");
    set_rows(s, sums, add(s, sums, device_.from_host({1}, Floats{1}, "one")), {.position = 0});
    return s.finish({.slots = slots, .run = false}).graph;
  }
  StateBlock make() const {
    return {device_, StateLayout()
                         .host("n", 5)
                         .array("ids", 3, {.low = 0, .high = 3})
                         .carried_array("tokens", 2)
                         .carried_array_f32("sums", 2)
                         .array_f32("heat", 1)};
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
};
INSTANTIATE_TEST_SUITE_P(On, StateArrays, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(StateArrays, ReplaysReadWhatTheHostSet) {
  const StateBlock state = make();
  CapturedGraph graph = gather(state, "ids");
  EXPECT_EQ(graph.read("y"), (Floats{0, 0, 0}));
  state.set("ids", Ints{3, 1, 2});
  graph.launch();
  EXPECT_EQ(graph.read("y"), (Floats{30, 10, 20}));
  graph.launch();
  EXPECT_EQ(graph.read("y"), (Floats{30, 10, 20}));
  EXPECT_EQ(state.values("ids"), (Ints{3, 1, 2}));
}

TEST_P(StateArrays, DirectSessionsReadThemToo) {
  const StateBlock state = make();
  state.set("ids", Ints{2, 0, 1});
  state.set("tokens", Ints{1, 3});
  auto s = executor_.begin({.state = state});
  record_gather(s, "ids");
  EXPECT_EQ(s.finish().read("y"), (Floats{20, 0, 10}));
  auto t = executor_.begin({.state = state});
  record_gather(t, "tokens");
  EXPECT_EQ(t.finish().read("y"), (Floats{10, 30}));
}

TEST_P(StateArrays, CarriedOnesStayOnTheDevice) {
  const StateBlock state = make();
  CapturedGraph graph = counter(state);
  for (int i = 0; i < 3; ++i) {
    graph.launch();
  }
  EXPECT_EQ(state.values<float>("sums"), (Floats{3, 3}));
}

TEST_P(StateArrays, APatchOfACarriedOneAppliesOnce) {
  const StateBlock state = make();
  CapturedGraph graph = counter(state);
  graph.launch();
  state.set("sums", Floats{10, 20});
  graph.launch();
  EXPECT_EQ(state.values<float>("sums"), (Floats{11, 21}));
  graph.launch();
  EXPECT_EQ(state.values<float>("sums"), (Floats{12, 22}));
}

TEST_P(StateArrays, APatchIsSeenByTheNextSubmissionOfAnyKind) {
  const StateBlock state = make();
  CapturedGraph graph = gather(state, "tokens");
  state.set("tokens", Ints{2, 1});
  auto s = executor_.begin({.state = state});
  record_gather(s, "tokens");
  EXPECT_EQ(s.finish().read("y"), (Floats{20, 10}));
  graph.launch();
  EXPECT_EQ(graph.read("y"), (Floats{20, 10}));
}

TEST_P(StateArrays, LaunchesInFlightKeepTheirValues) {
  const StateBlock state = make();
  auto s = executor_.begin_recorded({.state = state});
  const Tensor table = device_.from_host({4, 1}, Floats{0, 10, 20, 30}, "table");
  s.output("ids", get_rows(s, table, s.state_array("ids")));
  s.output("tokens", get_rows(s, table, s.state_array("tokens")));
  CapturedGraph graph = s.finish({.slots = 8, .run = false}).graph;
  std::vector<Ticket> tickets;
  for (std::int32_t i = 0; i < 8; ++i) {
    state.set({{"ids", Ints{i % 4, 0, 3}}, {"tokens", Ints{3, i % 3}}});
    tickets.push_back(graph.launch_async());
  }
  for (std::int32_t i = 0; i < 8; ++i) {
    const auto id = static_cast<float>(i % 4);
    const auto token = static_cast<float>(i % 3);
    const Ticket& ticket = tickets[static_cast<std::size_t>(i)];
    EXPECT_EQ(ticket.read("ids"), (Floats{10 * id, 0, 30}));
    EXPECT_EQ(ticket.read("tokens"), (Floats{30, 10 * token}));
  }
}

TEST_P(StateArrays, PatchesOfASubmissionThatFailsGoWithTheNextOne) {
  const StateBlock state(device_, StateLayout().carried("n", 1).carried_array("tokens", 2));
  CapturedGraph survivor = gather(state, "tokens");
  auto s = executor_.begin_recorded({.state = state});
  const Tensor doomed = device_.from_host({4, 1}, Floats{0, 0, 0, 0}, "doomed");
  s.output("y", get_rows(s, doomed, s.state_array("tokens")));
  CapturedGraph graph = s.finish().graph;
  state.set({{"n", 7}, {"tokens", Ints{3, 2}}});
  device_.backend().free(TensorRef(doomed)->buffer);
  expect_error(ErrorCode::stale, {"doomed"}, [&] { graph.launch(); });
  survivor.launch();
  EXPECT_EQ(survivor.read("y"), (Floats{30, 20}));
  EXPECT_EQ(state.get("n"), 7);
  EXPECT_EQ(state.values("tokens"), (Ints{3, 2}));
}

TEST_P(StateArrays, PositionsOfRowsMayBeAnArray) {
  const StateBlock state(device_, StateLayout().array("positions", 3));
  const Floats x{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  auto s = executor_.begin_recorded({.state = state});
  const Tensor positions = s.state_array("positions");
  s.output("y", rope(s, s.input("x", {3, 1, 4}, x), {.positions = positions}));
  CapturedGraph graph = s.finish().graph;
  const Ints at{7, 0, 311};
  state.set("positions", at);
  graph.launch();
  auto d = executor_.begin();
  const Tensor given = d.input("positions", {3}, at);
  d.output("y", rope(d, d.input("x", {3, 1, 4}, x), {.positions = given}));
  EXPECT_EQ(graph.read("y"), d.finish().read("y"));
}

TEST_P(StateArrays, TheDeviceMayWriteTokensIntoThem) {
  const StateBlock state = make();
  auto s = executor_.begin_recorded({.state = state});
  const Tensor scores = s.input("scores", {2, 3}, Floats{0, 1, 0, 0, 0, 1});
  set_rows(s, s.state_array("tokens"), argmax(s, scores), {.position = 0});
  CapturedGraph graph = s.finish().graph;
  EXPECT_EQ(state.values("tokens"), (Ints{1, 2}));
  graph.set_input("scores", Floats{9, 0, 0, 0, 9, 0});
  graph.launch();
  EXPECT_EQ(state.values("tokens"), (Ints{0, 1}));
}

TEST_P(StateArrays, FieldsBesideThemKeepTheirPlaces) {
  const StateBlock state = make();
  CapturedGraph graph = gather(state, "ids");
  state.set({{"n", 9}, {"ids", Ints{1, 1, 1}}});
  graph.launch();
  EXPECT_EQ(graph.state("n"), 9);
  EXPECT_EQ(state.values("ids"), (Ints{1, 1, 1}));
  EXPECT_EQ(state.values<float>("heat"), Floats{0});
}

TEST_P(StateArrays, MistakesAreNamed) {
  const StateBlock state = make();
  expect_error(ErrorCode::size_mismatch, {"'ids'", "3 elements", "(2)"}, [&] {
    state.set("ids", Ints{1, 2});
  });
  expect_error(ErrorCode::invalid_argument, {"'ids'", "0 to 3", "(4)"}, [&] {
    state.set("ids", Ints{1, 4, 2});
  });
  expect_error(ErrorCode::unknown_name, {"(idle)", "ids, tokens, sums, heat"},
               [&] { state.set("idle", Ints{1}); });
  expect_error(ErrorCode::dtype_mismatch, {"'ids'", "(f32)"}, [&] {
    state.set("ids", Floats{1, 1, 1});
  });
  expect_error(ErrorCode::unknown_name, {"no field (ids)"}, [&] { state.set("ids", 1); });
  expect_error(ErrorCode::unknown_name, {"no array (n)"}, [&] { state.set("n", Ints{1}); });
  expect_error(ErrorCode::dtype_mismatch, {"'heat'", "i32"}, [&] { (void)state.values("heat"); });
  auto s = executor_.begin({.state = state});
  expect_error(ErrorCode::unknown_name, {"no array (n)", "ids"}, [&] { (void)s.state_array("n"); });
  auto t = executor_.begin();
  expect_error(ErrorCode::unknown_name, {"no array (ids)", "none"},
               [&] { (void)t.state_array("ids"); });
}

}  // namespace
}  // namespace reprise::testing
