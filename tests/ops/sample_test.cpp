// What sample() may choose, how often, and what it refuses.
#include <cmath>
#include <numeric>
#include <set>

#include "framework/core/philox.h"
#include "framework/core/sample_arithmetic.h"
#include "reprise/backend/backend.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

constexpr std::int64_t kDraws = 500;

class Sample : public ::testing::TestWithParam<std::string> {
 protected:
  /// Tokens of kDraws rows that are alike.
  std::vector<std::int32_t> draw(const std::vector<float>& logits, SampleAttributes a,
                                 const std::vector<std::int32_t>& recent = {}) {
    std::vector<float> rows;
    for (std::int64_t row = 0; row < kDraws; ++row) {
      rows.insert(rows.end(), logits.begin(), logits.end());
    }
    auto s = executor_.begin();
    const Tensor used = recent.empty()
                            ? Tensor()
                            : s.input("recent", {static_cast<std::int64_t>(recent.size())}, recent);
    a.recent = used;
    const auto tokens = static_cast<std::int64_t>(logits.size());
    s.output("tokens", sample(s, s.input("logits", {kDraws, tokens}, rows), a));
    return s.finish().read<std::int32_t>("tokens");
  }
  std::set<std::int32_t> drawn(const std::vector<float>& logits, const SampleAttributes& a,
                               const std::vector<std::int32_t>& recent = {}) {
    const auto tokens = draw(logits, a, recent);
    return {tokens.begin(), tokens.end()};
  }
  std::vector<double> frequencies(const std::vector<float>& logits, const SampleAttributes& a) {
    std::vector<double> shares(logits.size());
    for (const std::int32_t token : draw(logits, a)) {
      shares[static_cast<std::size_t>(token)] += 1.0 / static_cast<double>(kDraws);
    }
    return shares;
  }
  std::int32_t seed() { return static_cast<std::int32_t>(rng_()); }

  const ExpectNoValidationMessages quiet_;
  const std::uint64_t seed_ = test_seed();
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, seed_note(seed_)};
  std::mt19937_64 rng_{seed_};
  GraphExecutor executor_{test_device(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(On, Sample, ::testing::Values("cpu", "reference", "vulkan"),
                         device_param_name);

using Tokens = std::set<std::int32_t>;

std::vector<float> logs(const std::vector<double>& probabilities) {
  std::vector<float> logits;
  for (const double p : probabilities) {
    logits.push_back(static_cast<float>(std::log(p)));
  }
  return logits;
}

// Six standard deviations of a share: 1 in 500 million.
TEST_P(Sample, DrawsTokensAsOftenAsTheyAreLikely) {
  const std::vector<double> likely{0.4, 0.05, 0.3, 0.25};
  const auto shares = frequencies(logs(likely), {.seed = seed()});
  for (std::size_t i = 0; i < likely.size(); ++i) {
    const double deviation = std::sqrt(likely[i] * (1 - likely[i]) / static_cast<double>(kDraws));
    EXPECT_NEAR(shares[i], likely[i], 6 * deviation) << "token " << i;
  }
}

TEST_P(Sample, TemperatureComesAfterTheFilters) {
  // At temperature 4 the last token would be among the first 95%.
  const auto shares =
      frequencies(logs({0.9, 0.06, 0.04}), {.temperature = 4, .top_p = 0.95F, .seed = seed()});
  const double hot = std::pow(0.9, 0.25) / (std::pow(0.9, 0.25) + std::pow(0.06, 0.25));
  EXPECT_NEAR(shares[0], hot, 6 * 0.5 / std::sqrt(static_cast<double>(kDraws)));
  EXPECT_EQ(shares[2], 0);
}

TEST_P(Sample, TopKKeepsTheLargestAndOfEqualOnesTheFirst) {
  EXPECT_EQ(drawn({1, 3, 2, 3, 2, 2}, {.top_k = 4, .seed = seed()}), (Tokens{1, 2, 3, 4}));
  EXPECT_EQ(drawn({1, 1, 1}, {.top_k = 5, .seed = seed()}), (Tokens{0, 1, 2}));
  EXPECT_EQ(drawn({1, 1, 1}, {.top_k = -1, .seed = seed()}), (Tokens{0, 1, 2}));
}

TEST_P(Sample, TopPKeepsUpToTheTokenThatReachesIt) {
  const auto logits = logs({0.1, 0.4, 0.2, 0.3});
  EXPECT_EQ(drawn(logits, {.top_p = 0.35F, .seed = seed()}), (Tokens{1}));
  EXPECT_EQ(drawn(logits, {.top_p = 0.65F, .seed = seed()}), (Tokens{1, 3}));
  EXPECT_EQ(drawn(logits, {.top_p = 0.75F, .seed = seed()}), (Tokens{1, 2, 3}));
  EXPECT_EQ(drawn(logits, {.top_p = 0.0F, .seed = seed()}), (Tokens{1}));
}

// Of the three that top_k keeps, the first has 4/9, the first two have 7/9.
TEST_P(Sample, TopPIsOfWhatTopKKept) {
  const auto logits = logs({0.1, 0.4, 0.2, 0.3});
  EXPECT_EQ(drawn(logits, {.top_k = 3, .top_p = 0.44F, .seed = seed()}), (Tokens{1}));
  EXPECT_EQ(drawn(logits, {.top_k = 3, .top_p = 0.77F, .seed = seed()}), (Tokens{1, 3}));
  EXPECT_EQ(drawn(logits, {.top_k = 3, .top_p = 0.79F, .seed = seed()}), (Tokens{1, 2, 3}));
}

TEST_P(Sample, MinPIsAFractionOfTheMostLikely) {
  const auto logits = logs({0.1, 0.4, 0.2, 0.3});
  EXPECT_EQ(drawn(logits, {.min_p = 0.45F, .seed = seed()}), (Tokens{1, 2, 3}));
  EXPECT_EQ(drawn(logits, {.min_p = 0.55F, .seed = seed()}), (Tokens{1, 3}));
  EXPECT_EQ(drawn(logits, {.min_p = 1, .seed = seed()}), (Tokens{1}));
}

TEST_P(Sample, APenaltyDividesAboveZeroAndMultipliesBelow) {
  const SampleAttributes greedy{.temperature = 0, .repetition_penalty = 2};
  EXPECT_EQ(drawn({3, 2, 1}, greedy, {0}), (Tokens{1}));
  EXPECT_EQ(drawn({3, 2, 1}, greedy, {0, 0, -1, 3, 1000}), (Tokens{1}));
  EXPECT_EQ(drawn({3, 1, 1}, greedy, {0}), (Tokens{0}));
  EXPECT_EQ(drawn({-3, -5, -9}, greedy, {0}), (Tokens{1}));
  EXPECT_EQ(drawn({-3, -7, -9}, greedy, {0}), (Tokens{0}));
}

// Tokens 7 and 32775 share a flag of the kernel.
TEST_P(Sample, APenaltyIsOfTheTokenAlone) {
  std::vector<float> logits(32800, 1);
  logits[7] = 3;
  logits[32775] = 4;
  for (const auto& [recent, chosen] : {std::pair{7, 32775}, {32775, 7}}) {
    auto s = executor_.begin();
    const Tensor used = s.input("recent", {1}, std::vector<std::int32_t>{recent});
    s.output("token", sample(s, s.input("logits", {1, 32800}, logits),
                             {.temperature = 0, .repetition_penalty = 2, .recent = used}));
    EXPECT_EQ(s.finish().read<std::int32_t>("token").front(), chosen);
  }
}

// Software drivers end the loops of an invocation after 65,535 turns.
TEST_P(Sample, ALongPenaltyIsOfAllItsTokens) {
  for (const auto& [tokens, count] : {std::pair{32000, 2048}, {128256, 64}}) {
    std::vector<std::int32_t> recent(static_cast<std::size_t>(count));
    std::iota(recent.begin(), recent.end(), 0);
    std::vector<float> logits(static_cast<std::size_t>(tokens), 4);
    std::fill_n(logits.begin(), count, 8.0F);
    auto s = executor_.begin();
    const Tensor used = s.input("recent", {count}, recent);
    s.output("token", sample(s, s.input("logits", {1, tokens}, logits),
                             {.top_k = 1, .top_p = 0.5F, .repetition_penalty = 4, .recent = used}));
    EXPECT_EQ(s.finish().read<std::int32_t>("token").front(), count) << tokens << " tokens";
  }
}

TEST(LongPenalties, AreRefusedWhereTheirLoopsWouldEndEarly) {
  const Device device = test_device("vulkan");
  if (!device.backend().traits().cpu_type) {
    GTEST_SKIP() << "Loops of this device do not end early.";
  }
  GraphExecutor executor(device);
  expect_error(ErrorCode::unsupported, {"sample", "(40000)", "at most 65535"}, [&] {
    auto s = executor.begin();
    const Tensor recent = s.input("recent", {2048}, std::vector<std::int32_t>(2048));
    s.output("token", sample(s, s.input("logits", {1, 40000}, std::vector<float>(40000)),
                             {.repetition_penalty = 2, .recent = recent}));
    (void)s.finish();
  });
}

TEST_P(Sample, NumbersComeBeforeWhatIsNone) {
  EXPECT_EQ(drawn({kNan, 1, -kInfinity, kNan, 1}, {.temperature = 100, .seed = seed()}),
            (Tokens{1, 4}));
  EXPECT_EQ(drawn({kNan, kNan, kNan}, {.seed = seed()}), (Tokens{0}));
  EXPECT_EQ(drawn({-kInfinity, kNan, -kInfinity}, {.seed = seed()}), (Tokens{0, 2}));
  EXPECT_EQ(drawn({3, kInfinity, kNan, kInfinity}, {.top_p = 0.9F, .seed = seed()}),
            (Tokens{1, 3}));
}

TEST_P(Sample, TheLargestComesFirstAtTemperatureZero) {
  EXPECT_EQ(drawn({kNan, -1, 5, 5, 2}, {.temperature = 0, .top_k = 3}), (Tokens{2}));
}

// Philox of {7, row, 0, 0} and {3, 0}: the shares of two equal tokens are the top bits of its
// words.
TEST_P(Sample, ADrawIsThePublishedFunctionOfSeedPositionAndRow) {
  const auto tokens = draw({0, 0}, {.seed = 3, .position = 7});
  for (std::uint32_t row = 0; row < 20; ++row) {
    EXPECT_EQ(static_cast<std::uint32_t>(tokens[row]), philox4x32({7, row, 0, 0}, {3, 0})[0] >> 31U)
        << row;
  }
}

TEST_P(Sample, EveryFilterGivesWhatTheReferenceGives) {
  GraphExecutor reference(test_device("reference"));
  std::uniform_real_distribution<float> uniform(0, 1);
  constexpr std::int64_t kRows = 6;
  for (int turn = 0; turn < 10; ++turn) {
    const auto tokens = static_cast<std::int64_t>(1 + rng_() % 3000);
    std::vector<float> logits(static_cast<std::size_t>(kRows * tokens));
    // Steps of 1/8: many are equal.
    for (float& logit : logits) {
      logit = std::round(uniform(rng_) * 80) / 8;
    }
    const SampleAttributes a{.temperature = uniform(rng_) * 2,
                             .top_k = static_cast<std::int32_t>(rng_() % 100),
                             .top_p = uniform(rng_),
                             .min_p = uniform(rng_) / 8,
                             .seed = seed(),
                             .position = turn};
    const auto run = [&](GraphExecutor& executor) {
      auto s = executor.begin();
      s.output("tokens", sample(s, s.input("logits", {kRows, tokens}, logits), a));
      return s.finish().read<std::int32_t>("tokens");
    };
    EXPECT_EQ(run(executor_), run(reference)) << "turn " << turn;
  }
}

class SampleErrors : public ::testing::Test {
 protected:
  void expect_refused(const std::vector<std::string>& parts, const Shape& logits,
                      const SampleAttributes& a) {
    auto s = executor_.begin();
    const Tensor x = device_.zeros(logits, DType::f32, "logits");
    expect_error(ErrorCode::invalid_argument, parts, [&] { (void)sample(s, x, a); });
  }
  const Device device_ = test_device("cpu");
  GraphExecutor executor_{device_};
};

TEST_F(SampleErrors, NumbersHaveRanges) {
  const Shape shape{2, 8};
  expect_refused({"temperature from 0", "(-1"}, shape, {.temperature = -1});
  expect_refused({"temperature", "(nan"}, shape, {.temperature = kNan});
  expect_refused({"temperature", "(inf"}, shape, {.temperature = kInfinity});
  expect_refused({"top_p from 0", "to 1", "(1.5"}, shape, {.top_p = 1.5F});
  expect_refused({"min_p from 0", "to 1", "(-0.5"}, shape, {.min_p = -0.5F});
  expect_refused({"repetition_penalty", "(0.0"}, shape, {.repetition_penalty = 0});
}

TEST_F(SampleErrors, LogitsAreRowsOfTokens) {
  expect_refused({"rank 2", "logits"}, {8}, {});
  expect_refused({"1 to 4194304 tokens", "(4194305)"}, {1, kMaxSampledTokens + 1}, {});
}

TEST_F(SampleErrors, RecentTokensAreOfAllRowsOrOfEach) {
  const Tensor recent = device_.zeros({3, 8}, DType::i32, "recent");
  expect_refused({"[rows, n]", "'recent' i32 [3, 8]"}, {2, 8}, {.recent = recent});
}

// A temperature of 1 has to leave the weights as they are: kernels skip what it would change.
TEST(SampleArithmetic, InvertsPowersOfTwoExactly) {
  for (int exponent = -100; exponent <= 100; ++exponent) {
    EXPECT_EQ(reciprocal(std::ldexp(1.0F, exponent)), std::ldexp(1.0F, -exponent)) << exponent;
  }
}

}  // namespace
}  // namespace reprise::testing
