// What a router chooses where logits are no ordinary numbers, and what it refuses.
#include <bit>
#include <cmath>
#include <set>

#include "tests/testing.h"

namespace reprise::testing {
namespace {

struct Routed {
  std::vector<std::int32_t> ids;
  std::vector<float> weights;
};

class RouteTopK : public ::testing::TestWithParam<std::string> {
 protected:
  Routed route(std::int64_t rows, const std::vector<float>& logits, const RouteAttributes& a,
               const std::vector<float>& bias = {}) {
    auto s = executor_.begin();
    const auto experts = static_cast<std::int64_t>(logits.size()) / rows;
    const Tensor b = bias.empty() ? Tensor() : s.input("bias", {experts}, bias);
    const RoutedExperts routed = route_top_k(s, s.input("logits", {rows, experts}, logits), a, b);
    s.output("ids", routed.ids);
    s.output("weights", routed.weights);
    const FinishResult result = s.finish();
    return {result.read<std::int32_t>("ids"), result.read("weights")};
  }
  /// Any bits: infinities, subnormals and NaN of every kind among them.
  std::vector<float> any_floats(std::int64_t count) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto bits = static_cast<std::uint32_t>(rng_());
      const std::uint32_t kinds[] = {bits,        bits | 0x7F800000U, bits & 0x807FFFFFU,
                                     0x7FC00000U, 0xFF800000U,        0x7F800000U};
      values.push_back(std::bit_cast<float>(kinds[rng_() % std::size(kinds)]));
    }
    return values;
  }

  const ExpectNoValidationMessages quiet_;
  const std::uint64_t seed_ = test_seed();
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, seed_note(seed_)};
  std::mt19937_64 rng_{seed_};
  GraphExecutor executor_{test_device(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(On, RouteTopK, ::testing::Values("cpu", "reference", "vulkan"),
                         device_param_name);

TEST_P(RouteTopK, ChoosesDifferentExpertsWhateverTheLogitsAre) {
  constexpr std::int64_t kTokens = 50;
  for (const ExpertGate gate : {ExpertGate::softmax, ExpertGate::sigmoid}) {
    for (const std::int64_t experts : {1, 2, 7, 60, 128}) {
      for (const bool biased : {false, true}) {
        const auto k = static_cast<std::int32_t>(
            1 + rng_() % static_cast<std::uint64_t>(std::min<std::int64_t>(experts, 64)));
        SCOPED_TRACE(std::to_string(k) + " of " + std::to_string(experts));
        const Routed routed = route(kTokens, any_floats(kTokens * experts), {.k = k, .gate = gate},
                                    biased ? any_floats(experts) : std::vector<float>());
        for (std::int64_t row = 0; row < kTokens; ++row) {
          const auto ids =
              std::span(routed.ids)
                  .subspan(static_cast<std::size_t>(row * k), static_cast<std::size_t>(k));
          ASSERT_EQ(std::set(ids.begin(), ids.end()).size(), ids.size()) << "row " << row;
          ASSERT_GE(std::ranges::min(ids), 0);
          ASSERT_LT(std::ranges::max(ids), experts);
        }
      }
    }
  }
}

TEST_P(RouteTopK, NanLosesAgainstEveryNumberAndHasNoWeight) {
  const Routed routed = route(1, {1, 3, kNan, 3, -kInfinity}, {.k = 5});
  EXPECT_EQ(routed.ids, (std::vector<std::int32_t>{1, 3, 0, 4, 2}));
  EXPECT_EQ(routed.weights[3], 0);
  EXPECT_EQ(routed.weights[4], 0);
  EXPECT_EQ(routed.weights[0], routed.weights[1]);
}

TEST_P(RouteTopK, ARowWithoutNumbersGivesTheFirstExpertsAndNoWeight) {
  for (const ExpertGate gate : {ExpertGate::softmax, ExpertGate::sigmoid}) {
    const Routed routed = route(1, {kNan, kNan, kNan}, {.k = 2, .gate = gate});
    EXPECT_EQ(routed.ids, (std::vector<std::int32_t>{0, 1}));
    EXPECT_EQ(routed.weights, (std::vector<float>{0, 0}));
  }
}

TEST_P(RouteTopK, InfiniteLogitsShareTheSoftmax) {
  const Routed routed = route(1, {kInfinity, 5, kInfinity, kNan}, {.k = 3, .normalise = false});
  EXPECT_EQ(routed.ids, (std::vector<std::int32_t>{0, 2, 1}));
  EXPECT_EQ(routed.weights, (std::vector<float>{0.5F, 0.5F, 0}));
}

TEST_P(RouteTopK, ABiasChoosesButDoesNotWeigh) {
  const Routed routed =
      route(1, {0, 0, 0, 0}, {.k = 2, .gate = ExpertGate::sigmoid, .scale = 3}, {0, 1, -1, 2});
  EXPECT_EQ(routed.ids, (std::vector<std::int32_t>{3, 1}));
  EXPECT_EQ(routed.weights, (std::vector<float>{1.5F, 1.5F}));
}

class RouteTopKErrors : public ::testing::Test {
 protected:
  void expect_refused(const std::vector<std::string>& parts, const Shape& logits,
                      const RouteAttributes& a, std::optional<Shape> bias = {}) {
    auto s = executor_.begin();
    const Tensor x = device_.zeros(logits, DType::f32, "logits");
    const Tensor b = bias ? device_.zeros(*bias, DType::f32, "bias") : Tensor();
    expect_error(ErrorCode::invalid_argument, parts, [&] { (void)route_top_k(s, x, a, b); });
  }
  const Device device_ = test_device("cpu");
  GraphExecutor executor_{device_};
};

TEST_F(RouteTopKErrors, KIsAtLeastOneAndAtMostTheExpertsAndTheLimit) {
  expect_refused({"route_top_k", "(1) to (8)", "'logits' f32 [3, 8]", "k is (9)"}, {3, 8},
                 {.k = 9});
  expect_refused({"(1) to (8)", "k is (0)"}, {3, 8}, {.k = 0});
  expect_refused({"(1) to (64)", "k is (65)"}, {3, 128}, {.k = 65});
}

TEST_F(RouteTopKErrors, LogitsHaveRowsAndTheBiasOneElementPerExpert) {
  expect_refused({"route_top_k needs rank 2", "logits"}, {8}, {.k = 1});
  expect_refused({"equal last dimensions", "'bias' f32 [7]"}, {3, 8}, {.k = 1}, Shape{7});
  expect_refused({"needs rank 1", "bias"}, {3, 8}, {.k = 1}, Shape{1, 8});
}

TEST_F(RouteTopKErrors, OtherGatesAreUnknown) {
  expect_refused({"softmax (0)", "sigmoid (1)", "(7)"}, {3, 8},
                 {.k = 1, .gate = static_cast<ExpertGate>(7)});
}

}  // namespace
}  // namespace reprise::testing
