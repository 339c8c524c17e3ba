// NaN, infinities and the ends of f32: kernels give them where the references do.
#include <limits>

#include "tests/testing.h"

namespace reprise::testing {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

using Values = std::vector<float>;

template <class Build>
Values result_of(const Device& device, Precision precision, Build&& build) {
  GraphExecutor executor(device, {.precision = precision});
  auto session = executor.begin();
  session.output("y", build(session));
  return session.finish().read("y");
}

/// NaN equals NaN; else to a thousandth.
template <class Build>
void expect_the_reference(Build&& build) {
  const Values expected = result_of(test_device("reference"), Precision::exact, build);
  const Values actual = result_of(test_device("cpu"), Precision::exact, build);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(actual[i])) << "element " << i << " is " << actual[i];
    } else if (std::isinf(expected[i])) {
      EXPECT_EQ(actual[i], expected[i]) << "element " << i;
    } else {
      EXPECT_NEAR(actual[i], expected[i], 1e-3F * (1 + std::abs(expected[i]))) << "element " << i;
    }
  }
}

class NotNumbers : public ::testing::TestWithParam<float> {};
std::string name_of_value(const ::testing::TestParamInfo<float>& info) {
  return std::array{"nan", "inf", "minus_inf", "most", "least", "subnormal"}.at(info.index);
}
INSTANTIATE_TEST_SUITE_P(Of, NotNumbers,
                         ::testing::Values(kNaN, kInfinity, -kInfinity, 3e38F, -3e38F, 1e-39F),
                         name_of_value);

TEST_P(NotNumbers, OfAQueryReachItsRow) {
  expect_the_reference([](GraphSession& s) {
    Values q(std::size_t{3} * 24, 0.5F);
    q[1] = GetParam();
    Values keys(std::size_t{5} * 24, 0.25F);
    Values values(std::size_t{5} * 24);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(i);
    }
    return attention(s, s.input("q", {3, 1, 24}, q), s.input("k", {5, 1, 24}, keys),
                     s.input("v", {5, 1, 24}, values), {.causal = true});
  });
}

TEST_P(NotNumbers, OfAKeyReachTheRowsThatSeeIt) {
  expect_the_reference([](GraphSession& s) {
    Values keys(std::size_t{5} * 24, 0.25F);
    keys[std::size_t{3} * 24] = GetParam();
    return attention(s, s.input("q", {3, 1, 24}, Values(std::size_t{3} * 24, 0.5F)),
                     s.input("k", {5, 1, 24}, keys),
                     s.input("v", {5, 1, 24}, Values(std::size_t{5} * 24, 2)), {.causal = true});
  });
}

TEST_P(NotNumbers, OfGatesAreKept) {
  expect_the_reference([](GraphSession& s) {
    const Values gate{GetParam(), 1, -90, 89, -105, 0};
    return silu_mul(s, s.input("gate", {6}, gate), s.input("up", {6}, Values(6, 1e20F)));
  });
}

TEST_P(NotNumbers, GoThroughFunctionsAsOthersDo) {
  for (const auto function : {exp, log, sin, cos, tanh}) {
    expect_the_reference([&](GraphSession& s) {
      const Values x{GetParam(), 0, -1, 50000, 88.9F, -104.5F};
      return function(s, s.input("x", {6}, x));
    });
  }
}

TEST(Angles, OfThousandsOfTurnsAreFound) {
  for (const auto function : {sin, cos}) {
    expect_the_reference([&](GraphSession& s) {
      Values x;
      for (int i = 0; i < 100; ++i) {
        x.push_back(static_cast<float>(i - 50) * 777.25F);
      }
      return function(s, s.input("x", {100}, x));
    });
  }
}

TEST_P(NotNumbers, OfARowAreNormalised) {
  expect_the_reference([](GraphSession& s) {
    Values x(40, 1);
    x[33] = std::abs(GetParam()) > 1e30F && std::isfinite(GetParam()) ? 1e15F : GetParam();
    return rms_norm(s, s.input("x", {1, 40}, x), {}, {.eps = 1e-5F});
  });
}

/// A row alone, and as one of many.
class RoundedNotNumbers : public ::testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(Rows, RoundedNotNumbers, ::testing::Values(1, 3, 40));

TEST_P(RoundedNotNumbers, OfABlockAreNoNumbersInFastPrecision) {
  for (const DType type : {DType::q8_0, DType::q4_0}) {
    for (const float value : {kNaN, kInfinity, -kInfinity}) {
      std::mt19937_64 rng(1);
      const auto weights = random_bytes(rng, type, std::int64_t{9} * 96, -1, 1);
      const Values result = result_of(test_device("cpu"), Precision::fast, [&](GraphSession& s) {
        Values x(static_cast<std::size_t>(GetParam()) * 96, 1);
        x[70] = value;
        const Tensor w = test_device("cpu").from_host({9, 96}, type, weights, "w");
        return matmul(s, s.input("x", {GetParam(), 96}, x), w);
      });
      for (std::size_t i = 0; i < result.size(); ++i) {
        // Rounded to 8 bits a block with an infinity is NaN; kernels that do not round keep it.
        EXPECT_EQ(std::isfinite(result[i]), i >= 9) << "element " << i << ", " << name_of(type);
      }
    }
  }
}

TEST(Rounding, OfBlocksThatAreNearlyZeroGivesNearlyZero) {
  std::mt19937_64 rng(1);
  const auto weights = random_bytes(rng, DType::q8_0, std::int64_t{4} * 32, -1, 1);
  const Values result = result_of(test_device("cpu"), Precision::fast, [&](GraphSession& s) {
    const Tensor w = test_device("cpu").from_host({4, 32}, DType::q8_0, weights, "w");
    return matmul(s, s.input("x", {1, 32}, Values(32, 3e-38F)), w);
  });
  for (const float y : result) {
    EXPECT_LE(std::abs(y), 32 * 3e-38F);
  }
}

}  // namespace
}  // namespace reprise::testing
