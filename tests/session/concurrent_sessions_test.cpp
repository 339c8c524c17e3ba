// Several threads on one device, direct sessions and replays mixed: the bits of one thread.
#include <atomic>
#include <cstring>
#include <thread>

#include "tests/testing.h"

namespace reprise::testing {
namespace {

constexpr std::int64_t kDim = 32, kTokens = 24, kContext = 40;
constexpr int kThreads = 4, kPasses = 24;

/// A small decoder: shared weights, a cache and state of its own.
class Decoder {
 public:
  struct Weights {
    Tensor embedding, mix, scale;
  };
  Decoder(const Device& device, GraphExecutor executor, const Weights& weights)
      : device_(device), executor_(std::move(executor)), weights_(weights) {}

  /// Passes by turns direct and by replay, in an order that `salt` chooses; everything it sees.
  std::vector<float> run(std::uint64_t salt) {
    std::mt19937_64 rng(salt);
    auto r = executor_.begin_recorded({.name = "decode", .state = state_, .max_iterations = 4});
    record(r);
    CapturedGraph graph = r.finish({.slots = 3, .run = false}).graph;
    std::vector<float> seen;
    std::vector<Ticket> tickets;
    const auto read = [&] {
      for (const Ticket& ticket : tickets) {
        for (std::uint32_t i = 0; i < ticket.iterations(); ++i) {
          const auto row = ticket.read("logits", i);
          seen.insert(seen.end(), row.begin(), row.end());
        }
      }
      tickets.clear();
    };
    for (int pass = 0; pass < kPasses; ++pass) {
      const float bias = static_cast<float>(rng() % 8) / 8;
      state_.set("bias_row", static_cast<std::int32_t>(rng() % kTokens));
      if (rng() % 2 == 0) {
        auto s = executor_.begin({.state = state_, .ops_per_submit = rng() % 2 == 0 ? 3U : 0U});
        record(s);
        tickets.push_back(s.submit());
      } else {
        graph.set_input("bias", std::vector<float>(kDim, bias));
        tickets.push_back(
            graph.launch_async({.iterations = 1 + static_cast<std::uint32_t>(rng() % 2)}));
      }
      if (tickets.size() == 3) {
        read();
      }
    }
    read();
    const std::vector<std::byte> cache = device_.to_host(cache_);
    for (std::size_t i = 0; i < cache.size(); i += sizeof(float)) {
      std::memcpy(&seen.emplace_back(), &cache[i], sizeof(float));
    }
    return seen;
  }

 private:
  void record(GraphSession& s) {
    const Tensor bias = s.input("bias", {kDim}, std::vector<float>(kDim, 0.25F));
    Tensor x = add(s, get_rows(s, weights_.embedding, s.state("token")), bias);
    x = add(s, rms_norm(s, matmul(s, x, weights_.mix), weights_.scale), x);
    set_rows(s, cache_, x, {.position = s.state("pos")});
    x = add(s, x, get_rows(s, weights_.embedding, s.state("bias_row")));
    const Tensor logits = matmul(s, x, weights_.embedding);
    advance(s, argmax(s, logits), {.position = s.state("pos"), .token = s.state("token")});
    s.output("logits", logits);
  }
  Device device_;
  GraphExecutor executor_;
  Weights weights_;
  Tensor cache_ = device_.zeros({kContext, kDim}, DType::f32, "cache");
  StateBlock state_{device_, StateLayout()
                                 .host("bias_row", 0)
                                 .carried("pos", 0)
                                 .carried("token", 1)
                                 .derived("length", field("pos") + 1, {.low = 0, .high = 64})};
};

class ConcurrentSessions : public ::testing::TestWithParam<std::string> {
 protected:
  Decoder::Weights weights(std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const auto random = [&](const Shape& shape, const char* name) {
      return device_.from_host(shape, DType::f32,
                               random_bytes(rng, DType::f32, shape.elements(), -1, 1), name);
    };
    return {random({kTokens, kDim}, "embedding"), random({kDim, kDim}, "mix"),
            random({kDim}, "scale")};
  }
  /// What every thread sees alone, and together with the others and with `meanwhile`.
  template <class Executor, class F>
  void expect_the_bits_of_one_thread(Executor&& executor_of, F&& meanwhile) {
    const std::uint64_t seed = test_seed();
    SCOPED_TRACE(seed_note(seed));
    const Decoder::Weights shared = weights(seed);
    std::vector<std::vector<float>> alone, together(kThreads);
    for (int t = 0; t < kThreads; ++t) {
      alone.push_back(
          Decoder(device_, executor_of(t), shared).run(seed + static_cast<std::uint64_t>(t)));
    }
    std::vector<std::thread> threads;
    std::atomic<int> running = kThreads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        together[static_cast<std::size_t>(t)] =
            Decoder(device_, executor_of(t), shared).run(seed + static_cast<std::uint64_t>(t));
        --running;
      });
    }
    do {
      meanwhile();
    } while (running != 0);
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_EQ(together, alone);
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
};
INSTANTIATE_TEST_SUITE_P(On, ConcurrentSessions, ::testing::Values("cpu", "vulkan"),
                         device_param_name);

TEST_P(ConcurrentSessions, OfOneExecutorGiveTheBitsOfOneThread) {
  const GraphExecutor executor(device_);
  expect_the_bits_of_one_thread([&](int) { return executor; }, [] { std::this_thread::yield(); });
}

TEST_P(ConcurrentSessions, OfExecutorsOfTheirOwnGiveTheBitsOfOneThread) {
  expect_the_bits_of_one_thread([&](int) { return GraphExecutor(device_); },
                                [] { std::this_thread::yield(); });
}

TEST_P(ConcurrentSessions, AreNotDisturbedByMemoryThatComesGrowsAndGoes) {
  const GraphExecutor executor(device_);
  expect_the_bits_of_one_thread([&](int) { return executor; },
                                [&] {
                                  const std::vector<float> ones(8, 1);
                                  const Tensor small = device_.from_host({1, 8}, ones, "small");
                                  auto s = GraphExecutor(executor).begin();
                                  const Tensor sum = add(s, small, small);
                                  s.output("sum", sum);
                                  const Ticket ticket = s.submit();
                                  const Tensor grown = device_.grow(small, {3, 8});
                                  device_.write(TensorRef(grown)->buffer, 64,
                                                std::as_bytes(std::span(ones)));
                                  EXPECT_EQ(ticket.read("sum"), std::vector<float>(8, 2));
                                  device_.free(grown);
                                });
}

/// Whatever the moment, a replay gives the sum with the old values or with the new ones, or says
/// that its memory is gone.
TEST_P(ConcurrentSessions, SetTheStateAndTheMemoryOfReplaysInFlight) {
  GraphExecutor executor(device_);
  const StateBlock state(device_, StateLayout().host("row", 0, {.low = 0, .high = 3}));
  const std::vector<float> numbers{1, 2, 3, 4};
  for (int round = 0; round < 8; ++round) {
    const Tensor table = device_.from_host({4, 1}, numbers, "table");
    auto r = executor.begin_recorded({.state = state});
    r.output("y", get_rows(r, table, r.state("row")));
    CapturedGraph graph = r.finish({.slots = 4}).graph;
    std::atomic<bool> stale = false;
    std::atomic<int> launched = 0;
    std::thread launching([&] {
      try {
        for (;;) {
          const Ticket first = graph.launch_async();
          const Ticket second = graph.launch_async();
          for (const Ticket* ticket : {&first, &second}) {
            const auto row = static_cast<std::size_t>(ticket->state("row"));
            EXPECT_EQ(ticket->read("y"), std::vector<float>{numbers[row]});
          }
          ++launched;
        }
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::stale) << error.what();
        stale = true;
      }
    });
    while (launched < 20) {
      state.set("row", launched % 4);
      EXPECT_LE(state.get("row"), 3);
      device_.write(TensorRef(table)->buffer, 0, std::as_bytes(std::span(numbers)));
    }
    const Tensor grown = device_.grow(table, {8, 1});
    launching.join();
    EXPECT_TRUE(stale);
    const std::vector<std::byte> bytes = device_.to_host(grown);
    EXPECT_EQ(std::memcmp(bytes.data(), numbers.data(), 16), 0);
  }
}

}  // namespace
}  // namespace reprise::testing
