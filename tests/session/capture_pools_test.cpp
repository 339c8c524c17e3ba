// Graphs whose arenas lie over each other.
#include <thread>

#include "reprise/graph/compute_graph.h"
#include "reprise/graph/execution_plan.h"
#include "tests/session/tensor_values.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

/// The same graph with the pool's memory and with its own.
struct Twins {
  CapturedGraph pooled, alone;
};

class CapturePools : public ::testing::TestWithParam<std::string> {
 protected:
  /// y = ((x + x) * w + x) over `rows` rows: transients and inputs in the arena.
  CapturedGraph graph(std::int64_t rows, const FinishOptions& options) {
    auto s = executor_.begin_recorded({.name = "rows of " + std::to_string(rows)});
    const Tensor x = s.input("x", {rows, kColumns}, values(rows, 1));
    const Tensor twice = add(s, x, x);
    s.output("y", add(s, mul(s, twice, weights_), x));
    return s.finish(options).graph;
  }
  Twins twins(std::int64_t rows) {
    return {graph(rows, {.slots = 3, .pool = pool_}), graph(rows, {.slots = 3})};
  }
  static std::vector<float> values(std::int64_t rows, float first) {
    std::vector<float> all(static_cast<std::size_t>(rows * kColumns));
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = first + static_cast<float>(i % 7);
    }
    return all;
  }
  std::uint64_t arena_of(const CapturedGraph& graph) { return graph.plan().arena_bytes; }
  static constexpr std::int64_t kColumns = 64;
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  CapturePool pool_{device_};
  Tensor weights_ = device_.from_host({kColumns}, values(1, 2), "weights");
};
INSTANTIATE_TEST_SUITE_P(On, CapturePools, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(CapturePools, ASmallerGraphAddsNothing) {
  const CapturedGraph large = graph(8, {.pool = pool_});
  const std::uint64_t weights = TensorRef(weights_)->buffer->bytes();
  EXPECT_EQ(pool_.buffer_count(), 2U) << "the arena and the weights";
  EXPECT_EQ(pool_.bytes(), arena_of(large) + weights);
  const CapturedGraph small = graph(3, {.pool = pool_});
  EXPECT_LT(arena_of(small), arena_of(large));
  EXPECT_EQ(pool_.buffer_count(), 2U);
  EXPECT_EQ(pool_.bytes(), arena_of(large) + weights);
}

TEST_P(CapturePools, ALargerGraphTakesALargerBufferAndOlderOnesKeepTheirs) {
  CapturedGraph small = graph(3, {.pool = pool_});
  CapturedGraph large = graph(8, {.pool = pool_});
  EXPECT_EQ(pool_.buffer_count(), 3U);
  EXPECT_EQ(small.stale(), std::nullopt);
  small.launch();
  large.launch();
  EXPECT_EQ(small.read("y"), graph(3, {}).launch_async().read("y"));
  const CapturedGraph third = graph(3, {.pool = pool_});
  EXPECT_EQ(pool_.buffer_count(), 3U) << "it shares the small one";
}

TEST_P(CapturePools, GraphsKnowTheirPool) {
  const CapturedGraph with = graph(3, {.pool = pool_}), without = graph(3, {});
  EXPECT_TRUE(with.has_pool());
  EXPECT_EQ(with.pool(), pool_);
  EXPECT_FALSE(without.has_pool());
  expect_error(ErrorCode::invalid_argument, {"'rows of 3'", "no pool"},
               [&] { (void)without.pool(); });
  expect_error(ErrorCode::invalid_argument, {"empty"}, [] { (void)CapturePool().buffer_count(); });
}

TEST_P(CapturePools, NothingHasToSurviveBetweenSubmissions) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  std::vector<Twins> graphs;
  for (const std::int64_t rows : {5, 1, 8, 3}) {
    graphs.push_back(twins(rows));
  }
  for (int i = 0; i < 100; ++i) {
    SCOPED_TRACE(i);
    Twins& one = graphs[rng() % graphs.size()];
    Twins& two = graphs[rng() % graphs.size()];
    if (rng() % 3 == 0) {  // else the inputs of an earlier launch
      const auto rows = one.pooled.graph().tensors[0].spec.shape.dim(0);
      const auto x = values(rows, static_cast<float>(rng() % 100));
      one.pooled.set_input("x", x);
      one.alone.set_input("x", x);
    }
    const Ticket first = one.pooled.launch_async();
    const Ticket second = two.pooled.launch_async();
    EXPECT_EQ(first.read("y"), one.alone.launch_async().read("y"));
    EXPECT_EQ(second.read("y"), two.alone.launch_async().read("y"));
  }
}

TEST_P(CapturePools, NothingHasToSurviveBetweenLaunchesOfManyIterations) {
  constexpr std::int32_t kTokens = 16;
  struct Loop {
    CapturedGraph graph;
    Tensor table;
  };
  // The successors of a token are an input, so they lie in the arena while a launch iterates.
  const auto loop = [&](std::int32_t step, const CapturePool& pool) {
    const StateBlock state(device_, StateLayout().carried("pos", 0).carried("token", 1));
    const Tensor table = device_.zeros({64, kTokens}, DType::f32, "table");
    std::vector<float> following(kTokens * kTokens);
    for (std::int32_t t = 0; t < kTokens; ++t) {
      following[static_cast<std::size_t>(t * kTokens + (t * 5 + step) % kTokens)] = 1;
    }
    auto s = executor_.begin_recorded({.name = "loop", .state = state, .max_iterations = 8});
    const Tensor row =
        get_rows(s, s.input("following", {kTokens, kTokens}, following), s.state("token"));
    const Tensor next = argmax(s, row);
    set_rows(s, table, row, {.position = s.state("pos")});
    advance(s, next, {.position = s.state("pos"), .token = s.state("token")});
    s.output("next", next);
    return Loop{s.finish({.run = false, .pool = pool}).graph, table};
  };
  std::vector<Loop> pooled, alone;
  for (std::int32_t step = 1; step <= 5; step += 2) {
    pooled.push_back(loop(step, pool_));
    alone.push_back(loop(step, {}));
  }
  for (const std::uint32_t iterations : {8U, 1U, 5U, 8U}) {
    for (Loop& one : pooled) {
      one.graph.launch_async({.iterations = iterations}).release();
    }
    for (Loop& one : alone) {
      one.graph.launch({.iterations = iterations});
    }
  }
  for (std::size_t i = 0; i < pooled.size(); ++i) {
    EXPECT_EQ(device_.to_host(pooled[i].table), device_.to_host(alone[i].table));
  }
}

TEST_P(CapturePools, SealedOnesTakeNoBuffer) {
  const CapturedGraph known = graph(5, {.pool = pool_});
  pool_.seal();
  EXPECT_TRUE(pool_.sealed());
  const std::size_t count = pool_.buffer_count();
  (void)graph(5, {.pool = pool_});
  (void)graph(2, {.pool = pool_});
  expect_error(ErrorCode::invalid_argument, {"'rows of 9'", "arena", "sealed", "unseal"},
               [&] { (void)graph(9, {.pool = pool_}); });
  weights_ = device_.from_host({kColumns}, values(1, 3), "others");
  expect_error(ErrorCode::invalid_argument, {"'rows of 2'", "(others)", "sealed"},
               [&] { (void)graph(2, {.pool = pool_}); });
  EXPECT_EQ(pool_.buffer_count(), count);
  pool_.unseal();
  EXPECT_FALSE(pool_.sealed());
  (void)graph(9, {.pool = pool_});
  EXPECT_EQ(pool_.buffer_count(), count + 2);
}

TEST_P(CapturePools, RebindingChangesWhatTheyKeep) {
  CapturedGraph rebound = graph(3, {.pool = pool_});
  CapturedGraph other = graph(3, {.pool = pool_});
  const auto fresh = [&](const char* name) {
    return device_.from_host({kColumns}, values(1, 3), name);
  };
  const Tensor a = fresh("a"), b = fresh("b");
  pool_.seal();
  expect_error(ErrorCode::invalid_argument, {"(a)", "sealed"},
               [&] { rebound.rebind(weights_, a); });
  pool_.unseal();
  rebound.rebind(weights_, a);
  EXPECT_EQ(pool_.buffer_count(), 3U) << "arena, weights of the other graph, a";
  rebound.rebind(a, b);
  EXPECT_EQ(pool_.buffer_count(), 3U) << "b instead of a";
  other.rebind(weights_, b);
  EXPECT_EQ(pool_.buffer_count(), 2U);
  rebound.launch();
  other.launch();
  EXPECT_EQ(rebound.read("y"), other.read("y"));
}

TEST_P(CapturePools, KeepWhatTheirGraphsCaptured) {
  const std::weak_ptr<Buffer> weights = TensorRef(weights_)->buffer;
  (void)graph(3, {.pool = pool_});
  weights_ = Tensor();
  EXPECT_FALSE(weights.expired());
  EXPECT_EQ(pool_.buffer_count(), 2U);
  pool_ = CapturePool();
  EXPECT_TRUE(weights.expired());
}

TEST_P(CapturePools, CountNoFreedBuffers) {
  const CapturedGraph stale = graph(3, {.pool = pool_});
  device_.free(weights_);
  EXPECT_EQ(pool_.buffer_count(), 1U);
  EXPECT_EQ(pool_.bytes(), arena_of(stale));
}

TEST_P(CapturePools, OfAnotherDeviceAreRefused) {
  OpenOptions options;
  options.validation = GetParam() == "vulkan";
  pool_ = CapturePool(open_device(GetParam(), options));
  expect_error(ErrorCode::invalid_argument, {"'rows of 3'", "another device"},
               [&] { (void)graph(3, {.pool = pool_}); });
  EXPECT_EQ(pool_.buffer_count(), 0U);
}

TEST_P(CapturePools, GraphsOfSeveralThreadsTakeTurns) {
  std::vector<std::thread> threads;
  for (std::int64_t rows = 1; rows <= 4; ++rows) {
    threads.emplace_back([this, rows] {
      Twins mine = twins(rows);
      for (int i = 0; i < 25; ++i) {
        const auto x = values(rows, static_cast<float>(i));
        mine.pooled.set_input("x", x);
        mine.alone.set_input("x", x);
        const Ticket pooled = mine.pooled.launch_async();
        EXPECT_EQ(pooled.read("y"), mine.alone.launch_async().read("y"));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace
}  // namespace reprise::testing
