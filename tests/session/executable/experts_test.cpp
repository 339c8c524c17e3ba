// Where the weights of experts are never changes what a graph computes, nor the graph.
#include <array>
#include <numeric>
#include <set>

#include "tests/session/executable/experts_test_pass.h"

namespace reprise::testing {
namespace {

class Experts : public ExpertsTest {};
INSTANTIATE_TEST_SUITE_P(On, Experts, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(Experts, UploadedWhereTheyMissGiveTheBitsOfADeviceThatHasAll) {
  ExecutableGraph all = graph(setup(kExperts, ExpertMiss::upload));
  for (const std::int64_t resident : {1, 2, 3, 7}) {
    ExecutableGraph some = graph(setup(resident, ExpertMiss::upload, 4));
    for (int run = 0; run < 24; ++run) {
      const Floats x = random_rows(1);
      const Ticket expected = all.run({{"x", x}}), actual = some.run({{"x", x}});
      ASSERT_EQ(actual.read("y"), expected.read("y")) << resident << " resident, run " << run;
      ASSERT_EQ(actual.read<std::int32_t>("ids.1"), expected.read<std::int32_t>("ids.1"));
    }
  }
}

TEST_P(Experts, OfManyRowsAreServedInRoundsWithTheSameBits) {
  constexpr std::int64_t kRows = 7;
  ExecutableGraph all = graph(setup(kExperts, ExpertMiss::upload), kRows);
  for (const std::int64_t resident : {1, 2, 3, 5}) {
    ExecutableGraph some = graph(setup(resident, ExpertMiss::upload), kRows);
    for (int run = 0; run < 4; ++run) {
      const Floats x = random_rows(kRows);
      ASSERT_EQ(some.run({{"x", x}}).read("y"), all.run({{"x", x}}).read("y"))
          << resident << " resident";
    }
  }
}

TEST_P(Experts, ComputedByTheCpuWhereTheyMissAgreeWithinTheToleranceOfTheOp) {
  constexpr std::int64_t kRows = 3;
  ExecutableGraph all = graph(setup(kExperts, ExpertMiss::upload), kRows);
  ExecutableGraph some = graph(setup(2, ExpertMiss::cpu, 3), kRows);
  for (int run = 0; run < 12; ++run) {
    const Floats x = random_rows(kRows);
    const Floats expected = all.run({{"x", x}}).read("y"), actual = some.run({{"x", x}}).read("y");
    const auto doubles = [](const Floats& v) { return std::vector<double>(v.begin(), v.end()); };
    ASSERT_LT(nmse(doubles(expected), doubles(actual)), 1e-9) << run;
  }
  const std::vector<ExpertStats> stats = some.expert_stats();
  EXPECT_GT(stats[0].calls_host, 0U);
  EXPECT_EQ(stats[0].calls_host, stats[0].misses);
  EXPECT_EQ(stats[0].calls_device + stats[0].calls_host, 12U * kRows * kUsed);
  EXPECT_EQ(stats[0].tokens_device + stats[0].tokens_host, 12U * kRows);
}

TEST_P(Experts, PromotedOrMovedByHandNeverRecordTheGraphAgain) {
  for (const ExpertMiss misses : {ExpertMiss::upload, ExpertMiss::cpu}) {
    ExecutableGraph some = graph(setup(2, misses, 2));
    (void)some.run({{"x", random_rows(1)}});
    const std::size_t recordings = some.recordings();
    const std::uint64_t allocations = this->allocations();
    for (int run = 0; run < 20; ++run) {
      std::vector<bool> resident(kExperts);
      resident[rng_() % kExperts] = true;
      some.set_resident_experts(kLayers[run % 2], resident);
      (void)some.run({{"x", random_rows(1)}});
    }
    EXPECT_EQ(some.recordings(), recordings);
    if (misses == ExpertMiss::upload && GetParam() == "cpu") {
      EXPECT_EQ(this->allocations(), allocations) << "weights move between what is there";
    }
    const auto stats = some.expert_stats();
    EXPECT_GT(stats[0].promotions, 0U);
    EXPECT_GT(stats[0].demotions, 0U);
  }
}

TEST_P(Experts, ThatMostIsRoutedToTakeTheCellsWhenTheyAreRefreshed) {
  ExecutableGraph some = graph(setup(2, ExpertMiss::cpu, 4));
  std::vector<bool> none(kExperts);
  some.set_resident_experts(none);
  const Floats x = random_rows(1);
  Ints ids;
  for (int run = 0; run < 4; ++run) {
    ids = some.run({{"x", x}}).read<std::int32_t>("ids.0");
    EXPECT_EQ(some.resident_experts("layer.0"), none);
  }
  (void)some.run({{"x", x}});  // the fifth begins with a refresh
  std::vector<bool> expected(kExperts);
  for (const std::int32_t id : ids) {
    expected[static_cast<std::size_t>(id)] = true;
  }
  EXPECT_EQ(some.resident_experts("layer.0"), expected);
  EXPECT_EQ(some.take_expert_stats()[0].hits, 2U) << "of the fifth run alone";
}

TEST_P(Experts, ThatMuchWasRoutedToLongAgoLoseTheirCellsByTheDecay) {
  const ExpertStore store(4);
  store.add("layer", "up", {4, 4, 4}, Floats(64));
  struct Row {
    float decay;
    std::array<std::int32_t, 4> ids;  // of the runs behind four with expert 0
    std::size_t expected;
  };
  // With 1, the earlier four count in full; with 0.5, as two; with 0, not at all.
  const Row rows[] = {
      {1, {1, 1, 1, 1}, 0}, {0.5F, {1, 1, 1, 1}, 1}, {0.5F, {1, 2, 3, 1}, 0}, {0, {1, 2, 3, 1}, 1}};
  for (const auto& [decay, ids, expected] : rows) {
    SCOPED_TRACE(std::to_string(decay) + ", expert " + std::to_string(expected));
    ExecutableGraph some(executor_,
                         [](GraphSession& s) {
                           const Tensor row = reshape(s, s.input("x", {1, 4}), {1, 1, 4});
                           const Tensor id = s.input("id", {1, 1}, DType::i32);
                           s.output("y", s.experts("layer", id, [&](const PlacedExperts& experts) {
                             return experts.matmul(s, row, "up");
                           }));
                         },
                         {.experts = {.store = store,
                                      .options = {.budget_bytes = 64,  // one cell
                                                  .misses = ExpertMiss::cpu,
                                                  .refresh_interval = 4,
                                                  .decay = decay},
                                      .cpu = test_device("cpu")}});
    const auto run = [&](std::int32_t id) { (void)some.run({{"x", ones}, {"id", Ints{id}}}); };
    for (int i = 0; i < 4; ++i) {
      run(0);
    }
    std::ranges::for_each(ids, run);
    run(0);  // begins with the second refresh
    std::vector<bool> resident(4);
    resident[expected] = true;
    EXPECT_EQ(some.resident_experts("layer"), resident);
  }
}

TEST_P(Experts, BytesMovedAreWhatTheMissesTook) {
  ExecutableGraph some = graph(setup(2, ExpertMiss::upload));
  for (int run = 0; run < 16; ++run) {
    (void)some.run({{"x", random_rows(1)}});
  }
  for (const ExpertStats& stats : some.expert_stats()) {
    EXPECT_EQ(stats.runs, 16U);
    EXPECT_EQ(stats.hits + stats.misses, 16U * kUsed);
    EXPECT_EQ(stats.promotions, stats.misses) << "a row names different experts";
    EXPECT_EQ(stats.bytes_moved, stats.misses * store_.layer(stats.layer).expert_bytes());
    EXPECT_EQ(stats.demotions, stats.promotions);
    EXPECT_EQ(stats.calls_device, 16U * kUsed);
  }
}

TEST_P(Experts, StatisticsOfTwoGraphsDoNotMixAndTakeStartsAnew) {
  ExecutableGraph a = graph(setup(2, ExpertMiss::upload)), b = a.fork();
  (void)a.run({{"x", random_rows(1)}});
  EXPECT_EQ(b.expert_stats()[0].runs, 0U);
  EXPECT_EQ(a.take_expert_stats()[0].runs, 1U);
  EXPECT_EQ(a.take_expert_stats()[0].runs, 0U);
  (void)a.run({{"x", random_rows(1)}});
  EXPECT_EQ(a.take_expert_stats()[1].runs, 1U);
  EXPECT_EQ(a.expert_stats()[1].runs, 2U);
  const std::vector<bool> before = b.resident_experts("layer.0");
  a.set_resident_experts(std::vector<bool>(kExperts));
  EXPECT_EQ(b.resident_experts("layer.0"), before);
}

TEST_P(Experts, RoutesAreReadFromARingThatCountsWhatItDropped) {
  for (const ExpertMiss misses : {ExpertMiss::upload, ExpertMiss::cpu}) {
    ExecutableGraph some = graph(setup(misses == ExpertMiss::upload ? kExperts : 3, misses), 2);
    (void)some.run({{"x", random_rows(2)}});
    some.capture_routes(4);
    std::vector<Ints> expected;
    const auto run = [&] {
      const Ticket result = some.run({{"x", random_rows(2)}});
      expected.push_back(result.read<std::int32_t>("ids.0"));
      expected.push_back(result.read<std::int32_t>("ids.1"));
    };
    run();
    run();
    RouteCapture routes = some.take_routes();
    EXPECT_EQ(routes.dropped, 0U);
    ASSERT_EQ(routes.runs.size(), 4U) << "two runs, two layers";
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(routes.runs[i].ids, expected[i]);
      EXPECT_EQ(routes.runs[i].layer, kLayers[i % 2]);
      EXPECT_EQ(routes.runs[i].run, 1 + i / 2);
      EXPECT_EQ(routes.runs[i].rows, 2);
    }
    EXPECT_TRUE(some.take_routes().runs.empty()) << "they were taken";
    for (int i = 0; i < 6; ++i) {
      run();
    }
    routes = some.take_routes();
    EXPECT_EQ(routes.dropped, 2U);
    ASSERT_EQ(routes.runs.size(), 8U);
    for (std::size_t i = 0; i < 8; ++i) {
      EXPECT_EQ(routes.runs[i].ids, expected[8 + i]);
    }
    some.capture_routes(0);
    EXPECT_THROW((void)some.take_routes(), Error);
  }
}

TEST_P(Experts, PipelinedRunsAndForksKeepTheBits) {
  ExecutableGraph all = graph(setup(kExperts, ExpertMiss::upload));
  ExecutableGraph some = graph(setup(2, ExpertMiss::upload, 3));
  ExecutableGraph fork = some.fork();
  std::vector<Floats> xs;
  for (int i = 0; i < 12; ++i) {
    xs.push_back(random_rows(1));
  }
  std::vector<std::vector<NamedInput>> runs;
  for (const Floats& x : xs) {
    runs.push_back({{"x", x}});
  }
  const auto expected = all.run_pipelined(runs), actual = some.run_pipelined(runs),
             forked = fork.run_pipelined(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(actual[i].find("y").bytes, expected[i].find("y").bytes);
    EXPECT_EQ(forked[i].find("y").bytes, expected[i].find("y").bytes);
  }
}

TEST_P(Experts, OutOfWhatTheyCanBeAreRefused) {
  ExecutableGraph some = graph(setup(2, ExpertMiss::upload));
  expect_error(ErrorCode::size_mismatch, {"8 experts", "(7)"},
               [&] { some.set_resident_experts("layer.0", std::vector<bool>(7)); });
  expect_error(ErrorCode::invalid_argument, {"2 cells", "(3)"}, [&] {
    some.set_resident_experts("layer.0", {true, true, true, false, false, false, false, false});
  });
  expect_error(ErrorCode::unknown_name, {"(layer.7)", "layer.0, layer.1"},
               [&] { (void)some.resident_experts("layer.7"); });
  ExecutableGraph none = scaled_graph();
  expect_error(ErrorCode::invalid_argument, {"no experts"}, [&] { (void)none.expert_stats(); });
  ExpertSetup tight = setup(2, ExpertMiss::upload);
  tight.options.budget_bytes = 100;
  expect_error(ErrorCode::out_of_memory, {"100 bytes"}, [&] { (void)graph(tight); });
  for (const float decay : {-0.1F, 1.5F, kNan}) {
    ExpertSetup of_counts = setup(2, ExpertMiss::upload);
    of_counts.options.decay = decay;
    expect_error(ErrorCode::invalid_argument,
                 {"decay", "(" + std::to_string(decay) + ")", "0 to 1"},
                 [&] { (void)graph(of_counts); });
  }
  expect_error(ErrorCode::unknown_name, {"(side)", "gate, up, down"}, [&] {
    ExecutableGraph bad(executor_,
                        [](GraphSession& s) {
                          const Tensor ids = s.input("ids", {1, 2}, DType::i32);
                          (void)s.experts("layer.0", ids, [&](const PlacedExperts& e) {
                            return e.matmul(s, s.input("x", {1, 1, kDim}), "side");
                          });
                        },
                        {.experts = setup(2, ExpertMiss::upload)});
  });
  expect_error(ErrorCode::shape_mismatch, {"(8)"}, [&] {
    store_.add("layer.0", "bias", {3, 1, 4}, Floats(12));
  });
  expect_error(ErrorCode::size_mismatch, {"'bias'", "(8)"}, [&] {
    store_.add("layer.0", "bias", {8, 1, 4}, DType::f32, bytes_of(Floats(2)));
  });
  expect_error(ErrorCode::invalid_argument, {"an ExecutableGraph"}, [&] {
    auto s = executor_.begin();
    (void)s.experts("layer.0", s.input("ids", {1, 2}, Ints{0, 1}), {});
  });
}

}  // namespace
}  // namespace reprise::testing
