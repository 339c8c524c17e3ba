// Forks run from threads of their own, with the bits of one after another.
#include <thread>

#include "tests/session/executable/experts_test_pass.h"

namespace reprise::testing {
namespace {

class ExecutableForks : public ExecutableTest {};
INSTANTIATE_TEST_SUITE_P(On, ExecutableForks, ::testing::Values("cpu", "vulkan"),
                         device_param_name);

TEST_P(ExecutableForks, OnFourThreadsGiveTheBitsOfSerialRunsAndStoreWeightsOnce) {
  constexpr std::size_t kForks = 4, kRuns = 40;
  constexpr std::int64_t kWidth = 48;
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  const auto values = [&](std::int64_t n) {
    return floats(random_bytes(rng, DType::f32, n, -1, 1));
  };
  // h = norm(h * w + x): what a run leaves depends on all before it.
  ExecutableGraph first(
      executor_,
      [](GraphSession& s) {
        const Tensor h = matmul(s, s.input("h", {1, kWidth}), s.param("w", {kWidth, kWidth}));
        const Tensor x = s.input("x", {s.extent("rows"), kWidth});
        s.output("next", rms_norm(s, add(s, h, s.input("c", {1, kWidth})), {}, {.eps = 1e-5F}));
        s.output("y", add(s, x, reshape(s, h, {kWidth})));
      },
      {.extent = "rows", .buckets = {1, 4}});
  first.set_param("w", values(kWidth * kWidth));
  first.create_handle({.name = "h", .shape = {1, kWidth}});
  first.feed("h", "next", {.mode = FeedMode::swap, .to_host = true});
  std::vector<std::vector<Floats>> xs(kForks), cs(kForks);
  for (std::size_t f = 0; f < kForks; ++f) {
    for (std::size_t i = 0; i < kRuns; ++i) {
      xs[f].push_back(values(kWidth * static_cast<std::int64_t>(1 + rng() % 4)));
      cs[f].push_back(values(kWidth));
    }
  }
  const auto run_all = [&](ExecutableGraph& graph, std::size_t f) {
    std::vector<Floats> results;
    for (std::size_t i = 0; i < kRuns; ++i) {
      const Ticket result = graph.run({{"x", xs[f][i]}, {"c", cs[f][i]}});
      results.push_back(result.read("next"));
      results.push_back(result.read("y"));
    }
    return results;
  };
  std::vector<std::vector<Floats>> serial(kForks), parallel(kForks);
  for (std::size_t f = 0; f < kForks; ++f) {
    ExecutableGraph fork = first.fork();
    serial[f] = run_all(fork, f);
  }
  std::vector<ExecutableGraph> forks;
  const auto tensors = [&] { return device_.memory().of(MemoryPurpose::tensors).bytes; };
  const std::uint64_t before = tensors();
  for (std::size_t f = 0; f < kForks; ++f) {
    forks.push_back(first.fork());
  }
  EXPECT_LT(tensors() - before, kForks * first.params().bytes())
      << "handles alone: weights are shared";
  std::vector<std::thread> threads;
  for (std::size_t f = 0; f < kForks; ++f) {
    threads.emplace_back([&, f] { parallel[f] = run_all(forks[f], f); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(parallel, serial);
  EXPECT_EQ(first.recordings(), 3U) << "two buckets with the handle, and the pass without";
}

TEST_P(ExecutableForks, WithHandlesOfTheirOwnGetTheirOwnResults) {
  ExecutableGraph first(executor_, [](GraphSession& s) {
    const Tensor x = s.input("x", {4});
    s.output("sum", add(s, x, x));
    s.output("product", mul(s, x, x));
  });
  struct Feed {
    const char *handle, *output;
  };
  const std::vector<std::vector<Feed>> all{{{"a", "sum"}, {"b", "product"}},
                                           {{"b", "sum"}, {"a", "product"}},
                                           {{"a", "sum"}},
                                           {{"c", "sum"}}};
  for (const std::vector<Feed>& feeds : all) {
    ExecutableGraph fork = first.fork();
    for (const Feed& feed : feeds) {
      fork.create_handle({.name = feed.handle, .shape = {4}});
      fork.feed(feed.handle, feed.output);
    }
    (void)fork.run({{"x", Floats(4, 3)}});
    for (const Feed& feed : feeds) {
      EXPECT_EQ(fork.read<float>(feed.handle), Floats(4, feed.output[0] == 's' ? 6 : 9))
          << feed.output << " in " << feed.handle;
    }
  }
}

class ExpertForks : public ExpertsTest {};
INSTANTIATE_TEST_SUITE_P(On, ExpertForks, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(ExpertForks, OnFourThreadsHaveCellsOfTheirOwnAndGiveTheSameBits) {
  ExecutableGraph all = graph(setup(kExperts, ExpertMiss::upload));
  ExecutableGraph first = graph(setup(2, ExpertMiss::upload, 4));
  std::vector<Floats> xs, expected;
  for (int i = 0; i < 12; ++i) {
    xs.push_back(random_rows(1));
    expected.push_back(all.run({{"x", xs.back()}}).read("y"));
  }
  std::vector<ExecutableGraph> forks;
  for (int f = 0; f < 4; ++f) {
    forks.push_back(first.fork());
  }
  std::vector<std::vector<Floats>> results(4);
  std::vector<std::thread> threads;
  for (std::size_t f = 0; f < 4; ++f) {
    threads.emplace_back([&, f] {
      for (const Floats& x : xs) {
        results[f].push_back(forks[f].run({{"x", x}}).read("y"));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const auto& result : results) {
    EXPECT_EQ(result, expected);
  }
}

}  // namespace
}  // namespace reprise::testing
