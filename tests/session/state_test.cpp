// State fields: who owns them, when they change, what they mean for replays. On both backends.
#include <algorithm>
#include <cmath>

#include "tests/testing.h"

namespace reprise::testing {
namespace {

class State : public ::testing::TestWithParam<std::string> {
 protected:
  StateBlock make() const {
    return {device_, StateLayout()
                         .host("rows", 1)
                         .host("end", 7)
                         .carried("pos", 2)
                         .carried("token", 5)
                         .carried("done")
                         .derived("len", field("pos") + field("rows"))
                         .derived("blocks", ceil_div(field("len"), 4))};
  }
  /// token and pos go on by themselves: next = next input.
  CapturedGraph counter(const StateBlock& state) {
    auto s = executor_.begin_recorded({.name = "counter", .state = state});
    const Tensor next = s.input("next", {1}, std::vector<std::int32_t>{9});
    advance(s, next,
            {.position = s.state("pos"),
             .token = s.state("token"),
             .done = s.state("done"),
             .rows = s.state("rows"),
             .end_token = s.state("end")});
    s.output("next", next);
    return s.finish().graph;
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
};
INSTANTIATE_TEST_SUITE_P(On, State, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(State, CarriedFieldsGoOnBetweenLaunches) {
  const StateBlock state = make();
  CapturedGraph graph = counter(state);
  EXPECT_EQ(graph.state("pos"), 3);
  EXPECT_EQ(graph.state("token"), 9);
  graph.launch();
  graph.launch();
  EXPECT_EQ(graph.state("pos"), 5);
}

TEST_P(State, HostFieldsKeepTheirValueUntilSetAgain) {
  const StateBlock state = make();
  CapturedGraph graph = counter(state);
  graph.set_state("rows", 10);
  graph.launch();
  graph.launch();
  EXPECT_EQ(graph.state("pos"), 23);
}

TEST_P(State, FieldsAndArraysOfAGraphAreSetTogetherOrNotAtAll) {
  const StateBlock state(
      device_, StateLayout().host("rows", 1).host_f32("heat", 1.5F).array("ids", 2).carried("pos"));
  auto s = executor_.begin_recorded({.state = state});
  const Tensor x = s.input("x", {1, 2}, std::vector<float>{1, 2});
  s.output("y", scale(s, x, {.scale = 2}));
  CapturedGraph graph = s.finish().graph;
  const std::vector<std::int32_t> ids{3, 4}, three{5, 6, 7};
  graph.set_state({{"rows", 2}, {"heat", 2.5F}, {"ids", ids}, {"pos", 8}});
  expect_error(ErrorCode::size_mismatch, {"'ids'", "(3)"}, [&] {
    graph.set_state({{"pos", 9}, {"ids", three}});
  });
  const Ticket ticket = graph.launch_async();
  EXPECT_EQ(ticket.state("rows"), 2);
  EXPECT_EQ(ticket.state<float>("heat"), 2.5F);
  EXPECT_EQ(ticket.state("pos"), 8);
  expect_error(ErrorCode::dtype_mismatch, {"'heat'", "f32"}, [&] { (void)ticket.state("heat"); });
  graph.set_state("heat", 4.0F);
  graph.set_state("ids", std::vector<std::int32_t>{9, 9});
  graph.launch();
  EXPECT_EQ(graph.state<float>("heat"), 4.0F);
  EXPECT_EQ(state.values("ids"), (std::vector<std::int32_t>{9, 9}));
}

TEST_P(State, APatchAppliesOnceAndUnsetFieldsKeepTheDevicesValue) {
  const StateBlock state = make();
  CapturedGraph graph = counter(state);
  graph.set_state("pos", 100);
  graph.launch();
  EXPECT_EQ(graph.state("pos"), 101);
  EXPECT_EQ(graph.state("token"), 9);
  graph.launch();
  EXPECT_EQ(graph.state("pos"), 102);
}

TEST_P(State, DerivedFieldsFollowAtTheHeadOfALaunch) {
  const StateBlock state = make();
  CapturedGraph graph = counter(state);
  graph.set_state("pos", 6);
  graph.set_state("rows", 4);
  graph.launch();
  EXPECT_EQ(graph.state("len"), 10);
  EXPECT_EQ(graph.state("blocks"), 3);
}

TEST_P(State, TheEndTokenSetsDoneForGood) {
  const StateBlock state = make();
  CapturedGraph graph = counter(state);
  EXPECT_EQ(graph.state("done"), 0);
  graph.set_input("next", std::vector<std::int32_t>{7});
  graph.launch();
  EXPECT_EQ(graph.state("done"), 1);
  graph.set_input("next", std::vector<std::int32_t>{1});
  graph.launch();
  EXPECT_EQ(graph.state("done"), 1);
}

TEST_P(State, DirectSessionsAndGraphsShareABlock) {
  const StateBlock state = make();
  CapturedGraph graph = counter(state);
  auto s = executor_.begin({.state = state});
  const Tensor next = s.input("next", {1}, std::vector<std::int32_t>{3});
  advance(s, next, {.position = s.state("pos"), .token = s.state("token"), .rows = 20});
  (void)s.finish();
  EXPECT_EQ(state.get("pos"), 23);
  graph.launch();
  EXPECT_EQ(state.get("pos"), 24);
}

TEST_P(State, AReplayReadsTheNewPosition) {
  const StateBlock state(device_, StateLayout().host("row"));
  const std::vector<float> table{0, 1, 2, 3, 4, 5};
  auto s = executor_.begin_recorded({.state = state});
  s.output("y", get_rows(s, device_.from_host({3, 2}, table, "table"), s.state("row")));
  CapturedGraph graph = s.finish().graph;
  for (const std::int32_t row : {2, 0, 1}) {
    graph.set_state("row", row);
    graph.launch();
    EXPECT_EQ(graph.read("y"), (std::vector<float>{2.0F * static_cast<float>(row),
                                                   2.0F * static_cast<float>(row) + 1.0F}));
  }
}

TEST_P(State, WritesOutsideATableTouchNothing) {
  const StateBlock state(device_, StateLayout().host("pos"));
  const Tensor table = device_.zeros({2, 2}, DType::f32, "table");
  auto s = executor_.begin_recorded({.state = state});
  const Tensor x = s.input("x", {1, 2}, std::vector<float>{1, 2});
  set_rows(s, table, x, {.position = s.state("pos")});
  CapturedGraph graph = s.finish().graph;
  for (const std::int32_t outside : {2, -1, 2147483647, -2147483647}) {
    graph.set_state("pos", outside);
    graph.launch();
  }
  const auto bytes = device_.to_host(table);
  EXPECT_EQ(to_doubles(DType::f32, bytes), (std::vector<double>{1, 2, 0, 0}));
}

TEST_P(State, MistakesAreNamed) {
  const StateBlock state = make();
  expect_error(ErrorCode::unknown_name, {"(speed)", "rows, end, pos"},
               [&] { state.set("speed", 1); });
  expect_error(ErrorCode::invalid_argument, {"'len'", "derived"}, [&] { state.set("len", 1); });
  expect_error(ErrorCode::dtype_mismatch, {"'pos'", "f32 value (1)"},
               [&] { state.set("pos", 1.0F); });
  auto s = executor_.begin();
  expect_error(ErrorCode::unknown_name, {"no field (pos)", "none"}, [&] { (void)s.state("pos"); });
  auto t = executor_.begin();
  const Tensor next = t.input("next", {1}, std::vector<std::int32_t>{1});
  expect_error(ErrorCode::invalid_argument, {"no state block"}, [&] { advance(t, next, {}); });
}

TEST_P(State, FieldsOfALargerStateAreRefused) {
  const StateBlock large = make();
  const Tensor table = device_.zeros({4, 2}, DType::f32);
  auto theirs = executor_.begin({.state = large});
  const StateField field = theirs.state("blocks");
  const auto expect = [&](const StateBlock& state, const std::string& has) {
    auto s = executor_.begin({.state = state});
    expect_error(ErrorCode::invalid_argument,
                 {"'id' of get_rows is word (" + std::to_string(field.word) + ")", has},
                 [&] { (void)get_rows(s, table, field); });
  };
  expect(StateBlock(device_, StateLayout().host("pos")), "has 1 words");
  expect({}, "the session has none");
}

TEST_P(State, AnEmptyBlockHasNoLayout) {
  expect_error(ErrorCode::invalid_argument, {"empty", "with a device"},
               [] { (void)StateBlock().layout(); });
}

TEST_P(State, AnyNumberOfTheProgramIsTakenIfTheFieldCanHoldIt) {
  const StateBlock state(device_, StateLayout()
                                      .host("pos", std::size_t{2}, {.low = 0, .high = 31})
                                      .carried("token")
                                      .host_f32("heat"));
  const std::vector<int> tokens(5);
  auto s = executor_.begin({.state = state});
  state.set("pos", tokens.size());
  state.set({{"token", std::int64_t{7}}, {"heat", 0.5}});
  (void)s.finish();
  EXPECT_EQ(state.get("pos"), 5);
  EXPECT_EQ(state.get("token"), 7);
  EXPECT_EQ(state.get<float>("heat"), 0.5F);
  const auto refused = [&](const std::vector<std::string>& parts, const auto& f,
                           ErrorCode code = ErrorCode::invalid_argument) {
    expect_error(code, parts, f);
  };
  const std::string i32 = "i32 with values from 0 to 31, but was set to ";
  refused(
      {"'pos' is " + i32 + "the f32 value (0.5)"}, [&] { state.set("pos", 0.5); },
      ErrorCode::dtype_mismatch);
  refused({"'pos' is " + i32 + "(4294967298)"},
          [&] { state.set("pos", std::int64_t{4294967298}); });
  refused({"'pos' is " + i32 + "(18446744073709551615)"},
          [&] { state.set("pos", ~std::size_t{}); });
  refused({"'pos' is limited to 0 to 31", "(-1)"}, [&] { state.set("pos", std::int64_t{-1}); });
  refused({"'heat'", "finite", "(1e+300)"}, [&] { state.set("heat", 1e300); });
  refused({"'heat'", "finite", "nan"}, [&] { state.set("heat", std::nan("")); });
  refused(
      {"'heat' is f32", "the i32 value (1)"}, [&] { state.set("heat", 1); },
      ErrorCode::dtype_mismatch);
  EXPECT_EQ(state.get("pos"), 5);
  const DeviceScalar<std::int32_t> scalar(state, "pos");
  refused(
      {"'pos'", "(0.5)"}, [&] { scalar.set(0.5); }, ErrorCode::dtype_mismatch);
  refused({"(4294967296)", "-2147483648 to 2147483647", "state_test.cpp:"},
          [] { StateLayout().host("n", std::int64_t{1} << 32U); });
  refused({"(4294967296)", "-2147483648 to 2147483647", "state_test.cpp:"},
          [] { (void)Param<std::int32_t>(std::int64_t{1} << 32U); });
}

template <class T>
concept Readable = requires(const Ticket& ticket, const CapturedGraph& graph) {
  ticket.read<T>("y");
  graph.read<T>("y");
};
template <class T>
concept StateReadable = requires(const StateBlock& state) {
  state.get<T>("x");
  state.values<T>("x");
};
static_assert(Readable<float> && Readable<std::int32_t> && Readable<std::byte>);
static_assert(!Readable<double> && !Readable<std::int64_t>, "no link error");
static_assert(StateReadable<float> && !StateReadable<double> && !StateReadable<std::int64_t>);
static_assert(!std::is_constructible_v<Param<std::int32_t>, double>, "no fraction becomes 0");
static_assert(!std::is_constructible_v<InitialInteger, double>, "no fraction becomes 0");

}  // namespace
}  // namespace reprise::testing
