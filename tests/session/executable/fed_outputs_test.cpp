// Outputs of runs that feed handles: they have the values from before the feeds.
#include "reprise/ops/copy.h"
#include "reprise/session/saved_graphs.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/session/executable/executable_test.h"

namespace reprise::testing {
namespace {

class FedOutputs : public ExecutableTest {
 protected:
  void expect(const ExecutableGraph& graph, const char* handle, const Floats& values) {
    EXPECT_EQ(graph.read(handle), values) << "the handle " << handle;
  }
  static constexpr FeedMode kModes[] = {FeedMode::copy, FeedMode::swap};
};
INSTANTIATE_TEST_SUITE_P(On, FedOutputs, ::testing::Values("cpu", "vulkan"), device_param_name);

/// sum = h + x; old is h itself, half a part of it.
void summed_with_old(GraphSession& s) {
  const Tensor h = s.input("h", {2, 2});
  s.output("old", h);
  s.output("half", slice(s, h, 0, 1, 1));
  s.output("sum", add(s, h, s.input("x", {2, 2})));
}

TEST_P(FedOutputs, AnOutputThatIsAHandleHasItsValueFromBeforeTheRun) {
  for (const FeedMode mode : kModes) {
    for (const bool to_host : {false, true}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(mode)) + (to_host ? " to the host" : ""));
      ExecutableGraph graph(executor_, summed_with_old);
      graph.create_handle({.name = "h", .shape = {2, 2}});
      graph.feed("h", "sum", {.mode = mode, .to_host = to_host});
      const Floats x{1, 2, 3, 4};
      for (int run = 0; run < 3; ++run) {
        const float n = static_cast<float>(run);
        const auto result = graph.run({{"x", x}});
        EXPECT_EQ(result.read("old"), (Floats{n, 2 * n, 3 * n, 4 * n}));
        EXPECT_EQ(result.read("half"), (Floats{3 * n, 4 * n}));
        if (to_host) {
          EXPECT_EQ(result.read("sum"), (Floats{n + 1, 2 * n + 2, 3 * n + 3, 4 * n + 4}));
        }
        expect(graph, "h", {n + 1, 2 * n + 2, 3 * n + 3, 4 * n + 4});
      }
    }
  }
}

TEST_P(FedOutputs, AHandleThatNothingFeedsIsGivenByNameToAGraphFromAFile) {
  ExecutableGraph graph(executor_, summed_with_old);
  graph.create_handle({.name = "h", .shape = {2, 2}});
  const test::TempFolder folder;
  graph.captured().save(folder / "handle.graph");
  const auto load = [&](const char* name) {
    const Tensor h = device_.from_host({2, 2}, Floats{1, 2, 3, 4}, "h");
    return executor_.load_graph(folder / "handle.graph", {.tensors = {{name, h}}});
  };
  LoadedGraph loaded = load("handle h");
  EXPECT_FALSE(loaded.report.replanned) << loaded.report.reason;
  expect_error(ErrorCode::missing_input, {"input 'x'"}, [&] { loaded.graph.launch(); });
  loaded.graph.set_input("x", Floats{10, 20, 30, 40});
  loaded.graph.launch();
  EXPECT_EQ(loaded.graph.read("sum"), (Floats{11, 22, 33, 44}));
  expect_error(ErrorCode::invalid_argument, {"('handle h' f32 [2, 2])"}, [&] { load("h"); });
}

/// Each of two handles becomes what the other one was; both are outputs besides.
void exchanged(GraphSession& s) {
  const Tensor a = s.input("a", {2}), b = s.input("b", {2});
  s.output("new a", b);
  s.output("new b", a);
  s.output("old a", a);
  s.output("old b", b);
}

TEST_P(FedOutputs, TwoHandlesExchangeTheirValues) {
  for (const FeedMode of_a : kModes) {
    for (const FeedMode of_b : kModes) {
      SCOPED_TRACE(std::to_string(static_cast<int>(of_a)) + std::to_string(static_cast<int>(of_b)));
      ExecutableGraph graph(executor_, exchanged);
      graph.create_handle({.name = "a", .shape = {2}});
      graph.create_handle({.name = "b", .shape = {2}});
      graph.feed("a", "new a", {.mode = of_a});
      graph.feed("b", "new b", {.mode = of_b});
      Floats a{1, 2}, b{3, 4};
      graph.bind("a", a);
      graph.bind("b", b);
      for (int run = 0; run < 3; ++run) {
        const auto result = graph.run();
        EXPECT_EQ(result.read("old a"), a);
        EXPECT_EQ(result.read("old b"), b);
        std::swap(a, b);
        expect(graph, "a", a);
        expect(graph, "b", b);
      }
    }
  }
}

/// The row x goes into h, in place; old is h from before, h what it is then.
void written_in_place(GraphSession& s) {
  const Tensor h = s.input("h", {2, 2});
  s.output("old", copy(s, h));
  set_rows(s, h, s.input("x", {1, 2}), SetRowsAttributes{.position = 1});
  s.output("h", h);
  s.output("again", h);
}

TEST_P(FedOutputs, WhatThePassItselfWritesIntoAHandleShowsInEveryMode) {
  for (const FeedMode mode : {FeedMode::in_place, FeedMode::copy}) {
    SCOPED_TRACE(std::to_string(static_cast<int>(mode)));
    ExecutableGraph graph(executor_, written_in_place);
    graph.create_handle({.name = "h", .shape = {2, 2}});
    graph.feed("h", "h", {.mode = mode, .to_host = true});
    Floats old{0, 0, 0, 0};
    for (int run = 1; run < 4; ++run) {
      const Floats x{static_cast<float>(run), 5};
      const Floats now{0, 0, x[0], x[1]};
      const auto result = graph.run({{"x", x}});
      EXPECT_EQ(result.read("old"), old);
      EXPECT_EQ(result.read("h"), now);
      EXPECT_EQ(result.read("again"), now);
      expect(graph, "h", now);
      old = now;
    }
  }
}

TEST_P(FedOutputs, OfAPassThatWritesItsHandleStayInTheTensorThatAFileIsLoadedWith) {
  ExecutableGraph graph(executor_, written_in_place);
  graph.create_handle({.name = "h", .shape = {2, 2}});
  graph.feed("h", "h", {.mode = FeedMode::in_place, .to_host = true});
  const test::TempFolder folder;
  graph.captured().save(folder / "in_place.graph");
  const Tensor h = device_.from_host({2, 2}, Floats{1, 2, 3, 4}, "h");
  LoadedGraph loaded =
      executor_.load_graph(folder / "in_place.graph", {.tensors = {{"handle h", h}}});
  EXPECT_FALSE(loaded.report.replanned) << loaded.report.reason;
  Floats old{1, 2, 3, 4};
  for (int run = 1; run < 4; ++run) {
    const Floats x{static_cast<float>(run), 5};
    loaded.graph.set_input("x", x);
    loaded.graph.launch();
    const Floats now{1, 2, x[0], x[1]};
    EXPECT_EQ(loaded.graph.read("old"), old);
    EXPECT_EQ(loaded.graph.read("h"), now);
    EXPECT_EQ(device_.to_host<float>(h), now);
    old = now;
  }
  EXPECT_EQ(graph.read("h"), (Floats{0, 0, 0, 0})) << "the handle itself was not touched";
}

TEST_P(FedOutputs, ThatRunsDoNotBringBackAreOutputsOfAFile) {
  ExecutableGraph graph(executor_,
                        [](GraphSession& s) {
                          const Tensor x = s.input("rows of x", {s.extent("rows"), 2});
                          s.output("y", add(s, x, x));
                          written_in_place(s);
                        },
                        {.extent = "rows", .buckets = {4}});
  graph.create_handle({.name = "h", .shape = {2, 2}});
  graph.feed("h", "h", {.mode = FeedMode::in_place});
  const test::TempFolder folder;
  graph.captured().save(folder / "fed.graph");
  const Tensor h = device_.from_host({2, 2}, Floats{1, 2, 3, 4}, "h");
  const StateBlock state(device_, graph.state().layout());
  CapturedGraph loaded =
      executor_.load_graph(folder / "fed.graph", {.tensors = {{"handle h", h}}, .state = state})
          .graph;
  loaded.set_state("rows", 1);
  loaded.set_input("rows of x", Floats{7, 8});
  loaded.set_input("x", Floats{5, 6});
  loaded.launch();
  EXPECT_EQ(loaded.read("y"), (Floats{14, 16}));
  EXPECT_EQ(loaded.read("h"), (Floats{1, 2, 5, 6}));
}

}  // namespace
}  // namespace reprise::testing
