// A run stops on the device where an expert misses, and goes on where it stopped.
#include "reprise/session/numerics.h"
#include "tests/session/executable/experts_test_pass.h"

namespace reprise::testing {
namespace {

class ExpertStops : public ExpertsTest {
 protected:
  /// h goes through the layers into itself, and into a row of a history. The position moves before
  /// any expert may miss: what is derived from it is that of the whole iteration.
  void step(GraphSession& s) const {
    const Tensor h = s.input("h", {1, kDim});
    const Tensor history = s.input("history", {kMost, kDim});
    advance(s, s.input("id", {1}, DType::i32), {.position = s.state("pos"), .rows = 1});
    const Tensor y = layers(s, h);
    set_rows(s, history, y, SetRowsAttributes{.position = s.state("row")});
    set_rows(s, h, y, SetRowsAttributes{.position = 0});
    s.output("h", h);
    s.output("history", history);
    s.output("y", y);
  }
  Tensor layers(GraphSession& s, Tensor x) const {
    for (std::size_t l = 0; l < routers_.size(); ++l) {
      x = layer(s, l, x).y;
    }
    return x;
  }
  ExecutableGraph graph_with_rows(const ExpertSetup& experts) {
    return ExecutableGraph(
        executor_,
        [this](GraphSession& s) {
          s.output("y", layers(s, s.input("x", {s.extent("rows"), kDim})));
        },
        {.name = "rows", .extent = "rows", .buckets = {2, 7}, .experts = experts});
  }
  static constexpr std::int64_t kMost = 12;
  /// Position 10 is the last one that an iteration begins with.
  ExecutableGraph graph_of_steps(const ExpertSetup& experts, const Floats& start) {
    ExecutableGraph graph(executor_, [this](GraphSession& s) { step(s); },
                          {.name = "steps",
                           .state = StateLayout().carried("pos").derived("row", field("pos") + 0,
                                                                         {.low = 0, .high = 10}),
                           .max_iterations = 6,
                           .experts = experts});
    for (const char* name : {"h", "history"}) {
      graph.create_handle({.name = name, .shape = {name == std::string("h") ? 1 : kMost, kDim}});
      graph.feed(name, name, {.mode = FeedMode::in_place});
    }
    graph.bind("h", start);
    return graph;
  }
};
INSTANTIATE_TEST_SUITE_P(On, ExpertStops, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(ExpertStops, OfAnyNumberOfRowsGiveTheBitsOfADeviceThatHasAll) {
  ExecutableGraph all = graph_with_rows(setup(kExperts, ExpertMiss::upload));
  for (const std::int64_t resident : {1, 2, 3, 5}) {
    ExecutableGraph some = graph_with_rows(setup(resident, ExpertMiss::upload, 3));
    std::uint64_t rows_in_all = 0;
    for (const std::int64_t rows : {1, 7, 3, 0, 2, 5, 1, 6}) {
      const Floats x = random_rows(rows);
      const Ticket expected = all.run({{"x", x}}), actual = some.run({{"x", x}});
      if (rows > 0) {
        ASSERT_EQ(actual.read("y"), expected.read("y")) << resident << " resident, " << rows;
      }
      rows_in_all += static_cast<std::uint64_t>(rows);
    }
    for (const ExpertStats& stats : some.expert_stats()) {
      EXPECT_EQ(stats.hits + stats.misses, rows_in_all * kUsed);
      EXPECT_EQ(stats.tokens_device, rows_in_all);
    }
  }
}

TEST_P(ExpertStops, InIterationsGoOnWithThoseThatAreLeft) {
  const Floats start = random_rows(1);
  ExecutableGraph all = graph_of_steps(setup(kExperts, ExpertMiss::upload), start);
  for (const std::int64_t resident : {1, 2, 4}) {
    ExecutableGraph some = graph_of_steps(setup(resident, ExpertMiss::upload), start);
    ExecutableGraph expected = all.fork();
    expected.bind("h", start);
    std::uint64_t ran = 0;
    for (const std::uint32_t iterations : {1U, 4U, 2U, 6U}) {
      some.set_iterations(iterations);
      expected.set_iterations(iterations);
      const Ticket a = some.run({{"id", Ints{1}}}), e = expected.run({{"id", Ints{1}}});
      ASSERT_EQ(a.iterations(), e.iterations()) << resident << " resident";
      for (std::uint32_t i = 0; i < e.iterations(); ++i) {
        ASSERT_EQ(a.read("y", i), e.read("y", i)) << resident << " resident, iteration " << i;
        ASSERT_EQ(a.state("pos", i), e.state("pos", i));
      }
      ran += e.iterations();
    }
    EXPECT_EQ(ran, 11U) << "the last ones left the range";
    EXPECT_EQ(some.read<float>("history"), expected.read<float>("history"));
    for (const ExpertStats& stats : some.expert_stats()) {
      EXPECT_GT(stats.misses, 0U);
      EXPECT_EQ(stats.hits + stats.misses, ran * kUsed);
    }
  }
}

TEST_P(ExpertStops, AreNoSubmissionsWhereNothingMisses) {
  ExecutableGraph some = graph(setup(4, ExpertMiss::upload));
  const Floats x = random_rows(1);
  (void)some.run({{"x", x}});  // moves what this row is routed to
  const std::uint64_t before = submissions();
  const Ticket ticket = some.run({{"x", x}});
  EXPECT_EQ(submissions(), before + 1);
  EXPECT_EQ(ticket.times().submits, 1U);
  EXPECT_EQ(some.expert_stats()[0].misses + some.expert_stats()[0].hits, 2U * kUsed);
}

TEST_P(ExpertStops, AreCountedAsSubmissionsOfTheirRun) {
  ExecutableGraph some = graph(setup(2, ExpertMiss::upload));
  some.set_resident_experts(std::vector<bool>(kExperts));
  const Ticket ticket = some.run({{"x", random_rows(1)}});
  EXPECT_EQ(ticket.times().submits, 3U) << "each of two layers misses";
  EXPECT_EQ(some.expert_stats()[1].misses, 2U);
}

/// A host step cuts a run whether it stops or not.
TEST_P(ExpertStops, HaveTimesOfTheDeviceUnlessTheyStopBesideHostStepsToo) {
  const auto pass = [this](GraphSession& s) {
    const Tensor y = layers(s, s.input("x", {1, kDim}));
    const auto copied = [](HostStepCall& call) {
      std::ranges::copy(call.input<float>(0), call.output<float>(0).begin());
    };
    s.output("y", neg(s, host_step(s, "copied", {y}, {y.spec()}, copied)[0]));
  };
  const Floats x = random_rows(1);
  for (const TimingMode mode : {TimingMode::replay, TimingMode::node}) {
    ExecutableGraph some(executor_, pass, {.experts = setup(4, ExpertMiss::upload)});
    some.set_resident_experts(std::vector<bool>(kExperts));
    some.set_timing(mode);
    const Ticket stopped = some.run({{"x", x}}), whole = some.run({{"x", x}});
    EXPECT_FALSE(stopped.times().device_ns.has_value());
    EXPECT_GT(whole.times().device_ns.value_or(0), 0U) << "the same experts are there";
    EXPECT_EQ(stopped.read("y"), whole.read("y"));
  }
}

TEST_P(ExpertStops, LookAtNoStopOfAStateWhoseEveryRunIsOneIteration) {
  const auto results = [&](const ExpertSetup& experts) {
    ExecutableGraph graph(
        executor_,
        [this](GraphSession& s) {
          s.output("y", layers(s, s.input("x", {2, kDim})));
        },
        {.state = StateLayout().carried("done").stop_when("done"), .experts = experts});
    graph.state().set("done", 1);
    return graph.run({{"x", Floats(2 * kDim, 0.5F)}}).read("y");
  };
  EXPECT_EQ(results(setup(2, ExpertMiss::upload)), results(setup(kExperts, ExpertMiss::upload)));
}

TEST_P(ExpertStops, OfAnExecutableThatComputesMissesOnTheCpuAreRefused) {
  const ExpertSetup cpu = setup(2, ExpertMiss::cpu);
  expect_error(ErrorCode::unsupported, {"'rows'", "extent (rows)"},
               [&] { (void)graph_with_rows(cpu); });
  expect_error(ErrorCode::unsupported, {"'steps'", "(6) iterations"},
               [&] { (void)graph_of_steps(cpu, random_rows(1)); });
}

TEST_P(ExpertStops, LeaveTheRoutesOfARunWhole) {
  ExecutableGraph all = graph_with_rows(setup(kExperts, ExpertMiss::upload));
  ExecutableGraph some = graph_with_rows(setup(2, ExpertMiss::upload));
  for (ExecutableGraph* graph : {&all, &some}) {
    graph->capture_routes(4);
  }
  for (const std::int64_t rows : {2, 7, 1}) {
    const Floats x = random_rows(rows);
    (void)all.run({{"x", x}});
    (void)some.run({{"x", x}});
  }
  const RouteCapture expected = all.take_routes(), actual = some.take_routes();
  ASSERT_EQ(expected.runs.size(), 6U) << "three runs, two layers";
  ASSERT_EQ(actual.runs.size(), expected.runs.size());
  for (std::size_t i = 0; i < expected.runs.size(); ++i) {
    EXPECT_EQ(expected.runs[i].layer, kLayers[i % 2]);
    EXPECT_EQ(actual.runs[i].layer, expected.runs[i].layer);
    EXPECT_EQ(actual.runs[i].ids, expected.runs[i].ids);
  }
}

TEST_P(ExpertStops, LeaveWhatLiesBehindThemToWhoeverLooksAtTensors) {
  const Floats x = random_rows(1);
  ExecutableGraph stops = graph(setup(2, ExpertMiss::upload));
  ExecutableGraph has_all = graph(setup(2, ExpertMiss::upload));
  (void)has_all.run({{"x", x}});
  CapturedGraph actual = stops.captured(), expected = has_all.captured();
  actual.set_input("x", x);
  expected.set_input("x", x);
  const NumericsReport report = compare_numerics(actual, expected);
  EXPECT_TRUE(report.pass()) << report.text();
}

}  // namespace
}  // namespace reprise::testing
