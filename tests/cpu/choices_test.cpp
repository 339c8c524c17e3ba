// What ops choose on the CPU, tokens and experts, is what their references choose.
#include "tests/testing.h"

namespace reprise::testing {
namespace {

using Ids = std::vector<std::int32_t>;

template <class Build>
Ids chosen(const char* device, Build&& build) {
  GraphExecutor executor(test_device(device));
  auto session = executor.begin();
  session.output("ids", build(session));
  return session.finish().template read<std::int32_t>("ids");
}

class CpuChoices : public ::testing::Test {
 protected:
  float between(float low, float high) {
    return std::uniform_real_distribution<float>(low, high)(rng_);
  }
  std::vector<float> values(std::int64_t count, float low, float high) {
    std::vector<float> all(static_cast<std::size_t>(count));
    std::ranges::generate(all, [&] { return between(low, high); });
    return all;
  }
  /// At 1 the weights that tell what is kept are those that are drawn from.
  float temperature() { return rng_() % 2 == 0 ? 1 : between(0.1F, 3); }
  template <class Build>
  void expect_the_reference(Build&& build) {
    EXPECT_EQ(chosen("cpu", build), chosen("reference", build));
  }

  const std::uint64_t seed_ = test_seed();
  std::mt19937_64 rng_{seed_};
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, seed_note(seed_)};
};

TEST_F(CpuChoices, OfExpertsWithABiasAreThoseOfTheReference) {
  constexpr std::int64_t kRows = 300, kExperts = 160;
  // Of nearly equal logits many gates differ by a rounding or not at all.
  for (const float range : {3.0F, 1e-5F}) {
    for (const ExpertGate gate : {ExpertGate::softmax, ExpertGate::sigmoid}) {
      const auto logits = values(kRows * kExperts, -range, range);
      const auto bias = values(kExperts, 0, range > 1 ? 1e-3F : 0);
      expect_the_reference([&](GraphSession& s) {
        return route_top_k(s, s.input("logits", {kRows, kExperts}, logits), {.k = 8, .gate = gate},
                           s.input("bias", {kExperts}, bias))
            .ids;
      });
    }
  }
}

TEST_F(CpuChoices, OfTokensAreThoseOfTheReferenceWithAnyFilters) {
  constexpr std::int64_t kRows = 20;
  for (int round = 0; round < 60; ++round) {
    const std::int64_t tokens = std::array{17, 300, 1024, 2500}.at(rng_() % 4);
    const float range = std::array{0.0F, 0.1F, 3.0F, 12.0F, 40.0F}.at(rng_() % 5);
    const auto logits = values(kRows * tokens, -range, range);
    const bool cuts = rng_() % 2 == 0;
    const bool likely = rng_() % 2 == 0;
    const bool above = rng_() % 2 == 0;
    SampleAttributes a{
        .temperature = temperature(),
        .top_k = cuts ? static_cast<std::int32_t>(rng_() % 400) : 0,
        .top_p = likely ? between(0, 1) : 1,
        .min_p = above ? between(0, 0.2F) : 0,
        .repetition_penalty = rng_() % 3 == 0 ? between(0.5F, 2) : 1,
        .seed = static_cast<std::int32_t>(rng_() % 1000),
        .position = round,
    };
    Ids recent(50);
    std::ranges::generate(recent, [&] {
      return static_cast<std::int32_t>(rng_() % static_cast<std::uint64_t>(tokens));
    });
    SCOPED_TRACE("round " + std::to_string(round));
    expect_the_reference([&](GraphSession& s) {
      SampleAttributes with = a;
      const Tensor ids = s.input("recent", {50}, recent);
      with.recent = ids;
      return sample(s, s.input("logits", {kRows, tokens}, logits), with);
    });
  }
}

TEST_F(CpuChoices, OfLikelyTokensAreThoseOfTheReferenceWhereverTheyLie) {
  constexpr std::int64_t kRows = 8, kTokens = 20'000;
  std::vector<float> bell(kRows * kTokens);
  std::normal_distribution<float> normal;
  std::ranges::generate(bell, [&] { return normal(rng_); });
  // What becomes of the first of each 1,024, and of the others; what is added to the first of all.
  struct Parts {
    float first, others;
    bool adds;
    float token = 0;
  };
  for (const Parts parts :
       {Parts{1, 1, false}, Parts{3, 3, false}, Parts{8, 8, false}, Parts{1, 1, false, 9},
        Parts{1, 1, false, 30}, Parts{6, 0, true}, Parts{20, 0, true}, Parts{0, 9, true},
        Parts{kInfinity, 1, false}, Parts{0, -kInfinity, true}, Parts{-kInfinity, 0, true},
        Parts{-kInfinity, -kInfinity, true}, Parts{kNan, 2, false}}) {
    auto x = bell;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float change = i % kTokens % 1024 < 16 ? parts.first : parts.others;
      x[i] = parts.adds ? x[i] + change : x[i] * change;
    }
    for (std::size_t row = 0; row < x.size(); row += kTokens) {
      x[row] += parts.token;
    }
    for (const float top_p : {0.01F, 0.5F, 0.9F, 0.9999F}) {
      const SampleAttributes a{.temperature = temperature(), .top_p = top_p};
      SCOPED_TRACE(::testing::Message() << parts.first << ' ' << parts.others << ' ' << parts.token
                                        << ' ' << top_p << " at " << a.temperature.value);
      expect_the_reference([&](GraphSession& s) {
        return sample(s, s.input("logits", {kRows, kTokens}, x), a);
      });
    }
  }
}

TEST_F(CpuChoices, OfLikelyTokensAreThoseOfTheReferenceBehindTheLastOne) {
  constexpr std::int64_t kRows = 64, kTokens = 4096;
  // The last one is one of many equal ones, and larger ones follow.
  std::vector<float> logits(kRows * kTokens);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    logits[i] = i % kTokens > 3000 && i % 3 == 0 ? 1.0F : 0.0F;
  }
  for (const float top_p : {0.3F, 0.4F, 0.5F}) {
    SCOPED_TRACE(top_p);
    expect_the_reference([&](GraphSession& s) {
      return sample(s, s.input("logits", {kRows, kTokens}, logits),
                    {.temperature = 1, .top_p = top_p});
    });
  }
}

TEST_F(CpuChoices, OfLikelyTokensAreThoseOfTheReferenceForOddNumbers) {
  constexpr std::int64_t kRows = 6;
  const std::array odd{kNan,   kInfinity, -kInfinity, 3e38F, -3e38F,
                       1e-42F, -0.0F,     0.0F,       1.0F,  -9.0F};
  for (int round = 0; round < 60; ++round) {
    const std::int64_t tokens = std::array{5, 40, 1500, 5000}.at(rng_() % 4);
    const std::array chosen{odd.at(rng_() % odd.size()), odd.at(rng_() % odd.size()),
                            odd.at(rng_() % odd.size())};
    std::vector<float> logits(static_cast<std::size_t>(kRows * tokens));
    std::ranges::generate(logits, [&] { return chosen.at(rng_() % chosen.size()); });
    const SampleAttributes a{.temperature = temperature(), .top_p = between(0, 1)};
    SCOPED_TRACE(::testing::Message()
                 << chosen[0] << ' ' << chosen[1] << ' ' << chosen[2] << ' ' << tokens << ' '
                 << a.top_p.value << " at " << a.temperature.value);
    expect_the_reference([&](GraphSession& s) {
      return sample(s, s.input("logits", {kRows, tokens}, logits), a);
    });
  }
}

TEST_F(CpuChoices, OfTheLargestAreThoseOfTheReferenceInAnyOrder) {
  constexpr std::int64_t kRows = 2, kColumns = 20'000;
  const auto random = values(kRows * kColumns, -1, 1);
  auto rising = random, falling = random, first_of_1024 = random, of_nine_values = random;
  std::ranges::sort(rising);
  std::ranges::sort(falling, std::greater());
  for (std::size_t i = 0; i < random.size(); ++i) {
    first_of_1024[i] += i % kColumns % 1024 < 32 ? 2.0F : 0.0F;
    of_nine_values[i] = std::round(random[i] * 4);
  }
  auto no_numbers = random;
  std::ranges::fill(std::span(no_numbers).subspan(10, kColumns - 20),
                    std::numeric_limits<float>::quiet_NaN());
  for (const auto& x : {random, rising, falling, first_of_1024, of_nine_values, no_numbers}) {
    for (const std::int32_t k : {1, 40, 1000}) {
      expect_the_reference([&](GraphSession& s) {
        return top_k(s, s.input("x", {kRows, kColumns}, x), {.k = k});
      });
    }
  }
}

}  // namespace
}  // namespace reprise::testing
