// What routers chose in the last runs of an executable graph, whether or not a store has the
// experts.
#include "reprise/graph/compute_graph.h"
#include "reprise/session/saved_graphs.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/session/executable/experts_test_pass.h"

namespace reprise::testing {
namespace {

class Routes : public ExpertsTest {
 protected:
  /// Two routers with scopes of their own, and two that share one; [rows, kDim] each.
  void route(GraphSession& s, const Tensor& x) const {
    const auto choose = [&](const char* output, const Tensor& router, std::int32_t k) {
      s.output(output, route_top_k(s, matmul(s, x, router), {.k = k}).ids);
    };
    for (std::int32_t l = 0; l < 2; ++l) {
      const auto layer = s.scope("layer", l);
      choose(l == 0 ? "a" : "b", routers_[static_cast<std::size_t>(l)], 2);
    }
    const auto scope = s.scope("last");
    choose("c", routers_[0], 3);
    choose("d", routers_[1], 1);
  }
  ExecutableGraph fixed(const ExecutableOptions& options = {.routes = true}) {
    return ExecutableGraph(
        executor_,
        [this](GraphSession& s) {
          route(s, s.input("x", {3, kDim}));
        },
        options);
  }
  ExecutableGraph with_rows() {
    return ExecutableGraph(executor_,
                           [this](GraphSession& s) {
                             route(s, s.input("x", {s.extent("rows"), kDim}));
                           },
                           {.extent = "rows", .buckets = {2, 7}, .routes = true});
  }
  /// Runs, and notes what the outputs say as take_routes() should.
  void run(ExecutableGraph& graph, std::int64_t rows, std::vector<RoutedRun>& expected) {
    note(graph.run({{"x", random_rows(rows)}}), rows, expected);
  }
  static void note(const Ticket& result, std::int64_t rows, std::vector<RoutedRun>& expected) {
    const std::uint64_t run = expected.empty() ? 0 : expected.back().run + 1;
    const auto add = [&](const char* layer, const char* output, std::int64_t used) {
      expected.push_back({.run = run,
                          .layer = layer,
                          .rows = rows,
                          .used = used,
                          .ids = rows == 0 ? Ints() : result.read<std::int32_t>(output)});
    };
    add("layer.0", "a", 2);
    add("layer.1", "b", 2);
    add("last", "c", 3);
    add("last#2", "d", 1);
  }
  static void expect_same(std::span<const RoutedRun> expected,
                          const std::vector<RoutedRun>& actual) {
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
      SCOPED_TRACE("run " + std::to_string(expected[i].run) + ", " + expected[i].layer);
      EXPECT_EQ(actual[i].run, expected[i].run);
      EXPECT_EQ(actual[i].layer, expected[i].layer);
      EXPECT_EQ(actual[i].rows, expected[i].rows);
      EXPECT_EQ(actual[i].used, expected[i].used);
      EXPECT_EQ(actual[i].ids, expected[i].ids);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(On, Routes, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(Routes, AreThoseOfEveryRouterOfAPassWithoutAStore) {
  ExecutableGraph graph = fixed();
  graph.capture_routes(2);
  std::vector<RoutedRun> expected;
  for (int i = 0; i < 5; ++i) {
    run(graph, 3, expected);
  }
  const RouteCapture routes = graph.take_routes();
  EXPECT_EQ(routes.dropped, 3U);
  expect_same(std::span(expected).last(8), routes.runs);
}

TEST_P(Routes, OfAnExtentHaveTheRowsOfTheirRuns) {
  ExecutableGraph graph = with_rows();
  graph.capture_routes(8);
  std::vector<RoutedRun> expected;
  for (const std::int64_t rows : {1, 7, 2, 0, 6, 1}) {
    run(graph, rows, expected);
  }
  const RouteCapture routes = graph.take_routes();
  EXPECT_EQ(routes.dropped, 0U);
  expect_same(expected, routes.runs);
}

TEST_P(Routes, BehindFeedsAreThoseOfEachRun) {
  const Tensor mix = device_.from_host({kDim, kDim}, DType::f32,
                                       random_bytes(rng_, DType::f32, kDim * kDim, -1, 1), "mix");
  for (const FeedMode mode : {FeedMode::swap, FeedMode::copy}) {
    SCOPED_TRACE(static_cast<int>(mode));
    ExecutableGraph graph(executor_,
                          [&](GraphSession& s) {
                            const Tensor x = s.input("x", {3, kDim});
                            route(s, x);
                            s.output("next", rms_norm(s, matmul(s, x, mix), {}, {.eps = 1e-5F}));
                          },
                          {.routes = true});
    graph.create_handle({.name = "x", .shape = {3, kDim}});
    graph.bind("x", random_rows(3));
    graph.feed("x", "next", {.mode = mode});
    graph.capture_routes(8);
    std::vector<RoutedRun> expected;
    for (int i = 0; i < 6; ++i) {
      note(graph.run(), 3, expected);
    }
    EXPECT_NE(expected.front().ids, expected[4].ids);
    expect_same(expected, graph.take_routes().runs);
  }
}

TEST_P(Routes, OfPreparedRunsAreKeptToo) {
  ExecutableGraph graph = with_rows();
  graph.capture_routes(4);
  std::vector<RoutedRun> expected;
  for (const std::int64_t rows : {5, 1}) {
    graph.set_active_extent(rows);
    PreparedRun run = graph.prepare();
    const Floats x = random_rows(rows);
    run.write(graph.input_slot("x"), std::as_bytes(std::span(x)));
    note(run.run(), rows, expected);
  }
  expect_same(expected, graph.take_routes().runs);
}

TEST_P(Routes, AreTheSameWhileNodesAreTimed) {
  ExecutableGraph graph = fixed();
  graph.set_timing(TimingMode::node);
  graph.capture_routes(4);
  std::vector<RoutedRun> expected;
  run(graph, 3, expected);
  run(graph, 3, expected);
  expect_same(expected, graph.take_routes().runs);
}

TEST_P(Routes, OfAGraphFromAFileAreInTheRingsItIsLoadedWith) {
  ExecutableGraph graph = fixed();
  graph.capture_routes(2);
  const test::TempFolder folder;
  graph.captured().save(folder / "routes.graph");
  LoadOptions options{.state = StateBlock(device_, graph.state().layout())};
  std::vector<Tensor> rings;
  for (const Tensor& router : routers_) {
    options.tensors.emplace(router.name(), router);
  }
  for (const auto& [layer, used] :
       {std::pair("layer.0", 2), {"layer.1", 2}, {"last", 3}, {"last#2", 1}}) {
    const std::string name = "routes of " + std::string(layer);
    rings.push_back(device_.zeros({2 * 3, used}, DType::i32, name));
    options.tensors.emplace(name, rings.back());
  }
  LoadedGraph file = executor_.load_graph(folder / "routes.graph", options);
  EXPECT_FALSE(file.report.replanned) << file.report.reason;
  CapturedGraph& loaded = file.graph;
  loaded.set_input("x", random_rows(3));
  loaded.set_state("routes/row", 3);
  loaded.launch();
  const char* outputs[] = {"a", "b", "c", "d"};
  for (std::size_t i = 0; i < rings.size(); ++i) {
    Ints expected = loaded.read<std::int32_t>(outputs[i]);
    expected.insert(expected.begin(), expected.size(), 0);  // of the run before
    EXPECT_EQ(device_.to_host<std::int32_t>(rings[i]), expected) << outputs[i];
  }
}

TEST_P(Routes, OfForksAreTheirOwn) {
  ExecutableGraph graph = fixed();
  graph.capture_routes(4);
  ExecutableGraph fork = graph.fork();
  std::vector<RoutedRun> expected, of_fork;
  run(graph, 3, expected);
  run(fork, 3, of_fork);
  run(graph, 3, expected);
  expect_same(expected, graph.take_routes().runs);
  expect_same(of_fork, fork.take_routes().runs);
}

TEST_P(Routes, OfARouterBesideALayerOfExpertsInItsScopeAreTheirOwn) {
  ExecutableGraph graph(executor_,
                        [this](GraphSession& s) {
                          const Tensor x = s.input("x", {2, kDim});
                          {
                            const auto scope = s.scope("layer", 0);
                            s.output("alone",
                                     route_top_k(s, matmul(s, x, routers_[1]), {.k = 1}).ids);
                          }
                          s.output("ids", layer(s, 0, x).ids);
                        },
                        {.experts = setup(2, ExpertMiss::upload)});
  graph.capture_routes(1);
  const Ticket result = graph.run({{"x", random_rows(2)}});
  const std::vector<RoutedRun> runs = graph.take_routes().runs;
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].layer, "layer.0#2");
  EXPECT_EQ(runs[0].ids, result.read<std::int32_t>("alone"));
  EXPECT_EQ(runs[1].layer, "layer.0");
  EXPECT_EQ(runs[1].ids, result.read<std::int32_t>("ids"));
}

TEST_P(Routes, ThatAreNotCapturedCostTheRunNoNode) {
  ExecutableGraph graph = fixed(), without = fixed({});
  const auto nodes = [](ExecutableGraph& of) { return of.captured().graph().nodes.size(); };
  EXPECT_EQ(nodes(graph), nodes(without));
  graph.capture_routes(4);
  EXPECT_EQ(nodes(graph), nodes(without) + 4);
  graph.capture_routes(0);
  EXPECT_EQ(nodes(graph), nodes(without));
}

TEST_P(Routes, OfAPassThatKeepsNoneAreRefused) {
  ExecutableGraph graph = fixed({.name = "plain"});
  expect_error(ErrorCode::invalid_argument, {"'plain'", "ExecutableOptions::routes"},
               [&] { graph.capture_routes(1); });
}

TEST_P(Routes, OfMoreRunsThanRowsCanBeCountedAreRefused) {
  ExecutableGraph graph = fixed({.name = "plain", .routes = true});
  expect_error(ErrorCode::invalid_argument, {"'plain'", "(4000000000) runs", "715827882"},
               [&] { graph.capture_routes(4'000'000'000); });
}

TEST_P(Routes, OfAPassWithoutARouterAreRefused) {
  ExecutableGraph graph(executor_,
                        [](GraphSession& s) { s.output("y", silu(s, s.input("x", {4}))); },
                        {.name = "plain", .routes = true});
  expect_error(ErrorCode::invalid_argument, {"'plain'", "no call of route_top_k"},
               [&] { graph.capture_routes(1); });
}

TEST_P(Routes, OfSeveralIterationsAreRefused) {
  ExecutableGraph graph = fixed({.name = "steps", .max_iterations = 6, .routes = true});
  expect_error(ErrorCode::unsupported, {"'steps'", "(6) iterations"},
               [&] { graph.capture_routes(1); });
}

}  // namespace
}  // namespace reprise::testing
