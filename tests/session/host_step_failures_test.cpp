// Host steps that throw, and those that are not possible.
#include <cstring>
#include <stdexcept>

#include "tests/session/host_step_sessions.h"

namespace reprise::testing {
namespace {

class HostStepFailures : public HostStepSessions {};
INSTANTIATE_TEST_SUITE_P(On, HostStepFailures, host_step_places(), name_of_place);

TEST_P(HostStepFailures, ThatThrowEndTheLaunchAndTheGraphStaysUsable) {
  bool fail = false;
  const Tensor log = device_.from_host({4}, Values{0, 0, 0, 0}, "log");
  auto s = executor_.begin_recorded();
  const Tensor x = s.input("x", {4}, x_);
  const auto scope = s.scope("layer", 3);
  const Tensor y = host_step(s, "sort", {x}, {spec_}, [&](HostStepCall& call) {
    if (fail) {
      throw std::runtime_error("No room left.");
    }
    sort_values(call);
  })[0];
  host_step(
      s, "count", {y}, {}, [](HostStepCall& call) { ++call.in_place<float>()[0]; }, log);
  s.output("y", add(s, y, x));
  CapturedGraph graph = finish(s).graph;
  for (int i = 0; i < 3; ++i) {
    fail = true;
    expect_error(ErrorCode::invalid_argument,
                 {"No room left.", "host step 'sort'", "layer.3", "host_step_failures_test.cpp"},
                 [&] { graph.launch(); });
    expect_error(ErrorCode::invalid_argument, {"No room left."},
                 [&] { (void)graph.launch_async(); });
    EXPECT_EQ(graph.num_replays(), static_cast<std::uint64_t>(i + 1));
    fail = false;
    graph.launch();
    EXPECT_EQ(graph.read("y"), (Values{5, 3, 6, 6}));
  }
  const std::vector<std::byte> count = device_.to_host(log);
  float calls = 0;
  std::memcpy(&calls, count.data(), sizeof calls);
  EXPECT_EQ(calls, 4.0F);  // runs that failed count nothing
}

TEST_P(HostStepFailures, ThatThrowLeaveWhatFollowsUndoneOrWithZeros) {
  bool fail = false;
  int later_calls = 0;
  const Tensor table = device_.from_host({1, 4}, Values{7, 7, 7, 7}, "table");
  const Tensor kept = device_.from_host({4}, Values{1, 2, 3, 4}, "kept");
  auto s = executor_.begin_recorded();
  const Tensor x = s.input("x", {4}, x_);
  const Tensor y = host_step(s, "sort", {x}, {spec_}, [&](HostStepCall& call) {
    sort_values(call);
    if (fail) {
      throw std::runtime_error("No room left.");
    }
  })[0];
  set_rows(s, table, reshape(s, y, {1, 4}), SetRowsAttributes{.position = 0});
  host_step(
      s, "later", {y}, {},
      [&](HostStepCall& call) {
        ++later_calls;
        call.in_place<float>()[0] = 9;
      },
      kept);
  CapturedGraph graph = s.finish({.run = false, .joined_host_steps = GetParam().joined}).graph;
  fail = true;
  expect_error(ErrorCode::invalid_argument, {"No room left."}, [&] { graph.launch(); });
  expect_error(ErrorCode::invalid_argument, {"holds no outputs"},
               [&] { (void)graph.last_times(); });
  EXPECT_EQ(later_calls, 0);
  const auto floats = [&](const Tensor& tensor) {
    const std::vector<std::byte> bytes = device_.to_host(tensor);
    Values values(4);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  };
  EXPECT_EQ(floats(table), GetParam().joined ? Values(4, 0) : Values(4, 7));
  EXPECT_EQ(floats(kept), (Values{1, 2, 3, 4}));
  fail = false;
  graph.launch();
  EXPECT_EQ(floats(table), (Values{1, 2, 3, 4}));
  EXPECT_EQ(floats(kept), (Values{9, 2, 3, 4}));
}

TEST_P(HostStepFailures, DoNotShareThePoolOfOtherGraphs) {
  auto s = executor_.begin_recorded();
  const Tensor x = s.input("x", {4}, x_);
  s.output("y", host_step(s, "sort", {add(s, x, x)}, {spec_}, sort_values)[0]);
  expect_error(ErrorCode::invalid_argument, {"host steps", "without a pool"},
               [&] { (void)s.finish({.pool = CapturePool(device_)}); });
}

TEST_P(HostStepFailures, ThatThrowSomethingElseAreNamedToo) {
  for (const bool recorded : {false, true}) {
    auto s = begin(recorded);
    const auto run = [&] {
      const Tensor x = s.input("x", {4}, x_);
      s.output("y", host_step(s, "odd", {x}, {spec_}, [](HostStepCall&) { throw 7; })[0]);
      (void)finish(s, recorded);
    };
    expect_error(ErrorCode::invalid_argument, {"unknown type", "host step 'odd'"}, run);
  }
}

TEST_P(HostStepFailures, ThatThrowInvalidateADirectSessionAndNothingElse) {
  {
    auto s = executor_.begin();
    const Tensor x = s.input("x", {4}, x_);
    expect_error(ErrorCode::timeout, {"Too late."}, [&] {
      (void)host_step(s, "late", {x}, {spec_},
                      [](HostStepCall&) { throw Error(ErrorCode::timeout, "Too late."); });
    });
    EXPECT_TRUE(s.invalidated());
  }
  auto s = executor_.begin();
  const Tensor x = s.input("x", {4}, x_);
  s.output("y", host_step(s, "sort", {x}, {spec_}, sort_values)[0]);
  EXPECT_EQ(s.finish().read("y"), (Values{1, 2, 3, 4}));
}

TEST_P(HostStepFailures, CannotLaunchTheirOwnGraph) {
  CapturedGraph graph;
  auto s = executor_.begin_recorded();
  host_step(s, "again", {}, {}, [&](HostStepCall&) {
    if (graph) {
      graph.launch();
    }
  });
  graph = finish(s).graph;
  expect_error(ErrorCode::invalid_argument, {"one of its own host steps"}, [&] { graph.launch(); });
}

TEST_P(HostStepFailures, AreRefusedWhereADeviceDecidesWhatRuns) {
  StateLayout layout;
  layout.carried("position");
  auto s = executor_.begin_recorded({.state = StateBlock(device_, layout), .max_iterations = 4});
  expect_error(ErrorCode::invalid_argument, {"host step 'sort'", "(4) iterations"},
               [&] { host_step(s, "sort", {}, {}, [](HostStepCall&) {}); });
}

TEST_P(HostStepFailures, WithTensorsThatAreNotPossibleAreErrors) {
  const auto nothing = [](HostStepCall&) {};
  const auto expect = [&](const std::vector<std::string>& parts, const auto& record,
                          ErrorCode code = ErrorCode::invalid_argument) {
    auto s = executor_.begin();
    const Tensor x = s.input("x", {2, 2}, x_);
    expect_error(code, parts, [&] { record(s, x); });
  };
  expect({"(8) inputs", "at most 7"}, [&](GraphSession& s, const Tensor& x) {
    host_step(s, "many", std::vector<TensorRef>(8, TensorRef(x)), {}, nothing);
  });
  expect({"(5) outputs", "at most 4"}, [&](GraphSession& s, const Tensor&) {
    host_step(s, "many", {}, std::vector<TensorSpec>(5, spec_), nothing);
  });
  expect({"without elements"}, [&](GraphSession& s, const Tensor&) {
    host_step(s, "none", {}, {TensorSpec({0, 4}, DType::f32)}, nothing);
  });
  expect({"without dimensions", "[1]"}, [&](GraphSession& s, const Tensor&) {
    host_step(s, "none", {}, {TensorSpec()}, nothing);
  });
  expect({"strided view"}, [&](GraphSession& s, const Tensor& x) {
    host_step(s, "turned", {permute(s, x, {1, 0})}, {}, nothing);
  });
  expect({"no function"},
         [&](GraphSession& s, const Tensor&) { host_step(s, "idle", {}, {}, nullptr); });
  expect(
      {"(i32) elements", "input", "f32 [2, 2]"},
      [&](GraphSession& s, const Tensor& x) {
        host_step(s, "typed", {x}, {},
                  [](HostStepCall& call) { (void)call.input<std::int32_t>(0); });
      },
      ErrorCode::dtype_mismatch);
  expect({"1 inputs", "number (1)"}, [&](GraphSession& s, const Tensor& x) {
    host_step(s, "counted", {x}, {}, [](HostStepCall& call) { (void)call.input(1); });
  });
  expect({"written in place"}, [&](GraphSession& s, const Tensor& x) {
    host_step(s, "fixed", {x}, {}, [](HostStepCall& call) { (void)call.in_place(); });
  });
}

TEST_P(HostStepFailures, GraphsWithThemAreNotSaved) {
  auto s = executor_.begin_recorded();
  s.output("y", host_step(s, "sort", {s.input("x", {4}, x_)}, {spec_}, sort_values)[0]);
  const CapturedGraph graph = finish(s).graph;
  expect_error(ErrorCode::unsupported, {"cannot be saved", "(host_step)"},
               [&] { graph.save("never.graph"); });
}

}  // namespace
}  // namespace reprise::testing
