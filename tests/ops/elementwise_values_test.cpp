// Elementwise ops on every kind of number: beside those of their rows, values of all magnitudes,
// infinities and NaN. Each element is held to the reference.
#include <bit>
#include <cmath>
#include <limits>

#include "tests/testing.h"

namespace reprise::testing {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
// 64 pairs of them fill texels of lanes kernels.
constexpr float kSpecial[] = {0,         -0.0F,      1,    -2.5F,  1e37F, -1e37F,
                              kInfinity, -kInfinity, kNaN, 1e-20F, 9,     -9};

using Values = std::vector<float>;
using Build = std::function<Tensor(GraphSession&)>;

Device device_of(const std::string& name) {
  return name == "vulkan_portable" ? test_device("vulkan", {}, KernelFamily::portable)
                                   : test_device(name);
}

Values run(const Device& device, const Build& build, const StateBlock& state = {}) {
  GraphExecutor executor(device);
  auto s = executor.begin({.state = state});
  s.output("y", build(s));
  return s.finish().read("y");
}

Tensor input(GraphSession& s, const char* name, const Values& x) {
  return s.input(name, {static_cast<std::int64_t>(x.size())}, x);
}

/// How far a device may be away from the reference.
struct Tolerance {
  double relative;
  double absolute = 2e-36;  // where devices may flush an exp
};

void expect_near(const Values& expected, const Values& actual, const Tolerance& tolerance,
                 const std::function<std::string(std::size_t)>& operands) {
  ASSERT_EQ(expected.size(), actual.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto e = static_cast<double>(expected[i]);
    const auto a = static_cast<double>(actual[i]);
    const bool same = std::isfinite(e)
                          ? std::abs(a - e) <= tolerance.relative * std::abs(e) + tolerance.absolute
                          : a == e || (std::isnan(e) && std::isnan(a));
    ASSERT_TRUE(same) << "of " << operands(i) << " is " << a << ", not " << e;
  }
}

struct Function {
  std::string name;
  std::function<Tensor(Recorder&, const Tensor&)> f;
  Tolerance tolerance;
};
std::ostream& operator<<(std::ostream& out, const Function& f) { return out << f.name; }

// Of exp what its argument is rounded by: to 2^-24 of itself, and it is at most 88.
constexpr Tolerance kBits{0, 0}, kFewUlp{5e-7}, kRoundedExponent{2e-5}, kOfOne{0, 3e-7};
// The reference may round to a tie first, a device the product.
constexpr Tolerance kTwoRoundings{1.2e-7, 2.4e-7};

std::vector<Function> functions() {
  return {{"cos", cos, kOfOne},
          {"exp", exp, kFewUlp},
          {"gelu", gelu, kRoundedExponent},
          {"gelu_erf", gelu_erf, kRoundedExponent},
          {"gelu_quick", gelu_quick, kRoundedExponent},
          {"log", log, kFewUlp},
          {"neg", neg, kBits},
          {"relu", relu, kBits},
          {"sigmoid", sigmoid, kFewUlp},
          {"silu", silu, kFewUlp},
          {"sin", sin, kOfOne},
          {"sqr", sqr, {0}},
          {"sqrt", sqrt, kFewUlp},
          {"tanh", tanh, kFewUlp},
          {"scale",
           [](Recorder& r, const Tensor& x) {
             return scale(r, x, {3, -2});
           },
           kTwoRoundings},
          {"clamp",
           [](Recorder& r, const Tensor& x) {
             return clamp(r, x, {-2, 7});
           },
           kBits},
          {"softcap", [](Recorder& r, const Tensor& x) { return softcap(r, x, {20}); }, kFewUlp},
          {"gelu_mul", [](Recorder& r, const Tensor& x) { return gelu_mul(r, x, x); },
           kRoundedExponent}};
}

class ElementwiseFunctions : public ::testing::TestWithParam<std::tuple<std::string, Function>> {};
INSTANTIATE_TEST_SUITE_P(On, ElementwiseFunctions,
                         ::testing::Combine(::testing::Values("cpu", "vulkan"),
                                            ::testing::ValuesIn(functions())),
                         [](const auto& p) {
                           return std::get<0>(p.param) + "_" + std::get<1>(p.param).name;
                         });

TEST_P(ElementwiseFunctions, AreThoseOfTheReferenceAtEveryMagnitude) {
  const auto& [device, function] = GetParam();
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  const ExpectNoValidationMessages quiet;
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<float> exponent(-60, 120), near(-100, 100);
  Values x(std::begin(kSpecial), std::end(kSpecial));
  for (float edge = 88.72F; edge < 88.73F; edge = std::nextafter(edge, kInfinity)) {
    x.push_back(edge);  // where exp() becomes infinite
  }
  for (float edge = -8; edge < 8; edge += 1.0F / 64) {
    x.push_back(edge);  // where one polynomial takes over from another
  }
  while (x.size() < 4096) {
    const float size = std::exp2(exponent(rng));
    x.insert(x.end(), {size, -size, near(rng)});
  }
  const Build build = [&, f = function.f](GraphSession& s) { return f(s, input(s, "x", x)); };
  expect_near(run(test_device("reference"), build), run(device_of(device), build),
              function.tolerance, [&](std::size_t i) { return std::to_string(x[i]); });
}

struct Pairs {
  std::string name;
  Tensor (*f)(Site, TensorRef, TensorRef);
  Tolerance tolerance;
};
std::ostream& operator<<(std::ostream& out, const Pairs& p) { return out << p.name; }
const Pairs kPairs[] = {{"add", add, {0}},
                        {"sub", sub, {0}},
                        {"mul", mul, {0}},
                        {"div", div, kFewUlp},
                        {"silu_mul", silu_mul, kFewUlp},
                        {"gelu_mul", gelu_mul, kRoundedExponent},
                        {"sigmoid_mul", sigmoid_mul, kFewUlp}};

class ElementwisePairs : public ::testing::TestWithParam<std::tuple<std::string, Pairs>> {};
INSTANTIATE_TEST_SUITE_P(On, ElementwisePairs,
                         ::testing::Combine(::testing::Values("cpu", "vulkan", "vulkan_portable"),
                                            ::testing::ValuesIn(kPairs)),
                         [](const auto& p) {
                           return std::get<0>(p.param) + "_" + std::get<1>(p.param).name;
                         });

TEST_P(ElementwisePairs, OfSpecialValuesAreThoseOfTheReference) {
  const auto& [device, pairs] = GetParam();
  const ExpectNoValidationMessages quiet;
  Values x, y;
  for (const float a : kSpecial) {
    for (const float b : kSpecial) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  const Build build = [&, f = pairs.f](GraphSession& s) {
    return f(s, input(s, "x", x), input(s, "y", y));
  };
  expect_near(run(test_device("reference"), build), run(device_of(device), build), pairs.tolerance,
              [&](std::size_t i) { return std::to_string(x[i]) + " and " + std::to_string(y[i]); });
}

class ElementwiseValues : public ::testing::TestWithParam<std::string> {
 protected:
  void expect_values(const Function& function, const Values& x, const Values& expected) const {
    SCOPED_TRACE(function.name);
    expect_near(
        expected,
        run(
            device_, [&](GraphSession& s) { return function.f(s, input(s, "x", x)); }, state_),
        kFewUlp, [&](std::size_t i) { return std::to_string(x[i]); });
  }

  const ExpectNoValidationMessages quiet_;
  const Device device_ = test_device(GetParam());
  StateBlock state_;
};
INSTANTIATE_TEST_SUITE_P(On, ElementwiseValues, ::testing::Values("cpu", "reference", "vulkan"),
                         device_param_name);

TEST_P(ElementwiseValues, AreWhatTheHeadersSay) {
  expect_values({"relu", relu, {}}, {kNaN, -kInfinity, kInfinity, -1}, {kNaN, 0, kInfinity, 0});
  expect_values({"sqrt", sqrt, {}}, {kNaN, -1, -kInfinity, kInfinity, 0, 4},
                {kNaN, kNaN, kNaN, kInfinity, 0, 2});
  expect_values({"log", log, {}}, {kNaN, -1, -kInfinity, kInfinity, 0, 1, 1e-39F, 1.0000001F},
                {kNaN, kNaN, kNaN, kInfinity, -kInfinity, 0, -89.8008F, 1.1920928e-7F});
  expect_values({"exp", exp, {}}, {kNaN, -kInfinity, kInfinity, 88.7F, 88.8F, 0},
                {kNaN, 0, kInfinity, 3.3259769e38F, kInfinity, 1});
  expect_values({"sin", sin, {}}, {kNaN, kInfinity, -kInfinity, 1e-20F},
                {kNaN, kNaN, kNaN, 1e-20F});
  expect_values({"tanh", tanh, {}}, {kNaN, kInfinity, -kInfinity, 1e-20F}, {kNaN, 1, -1, 1e-20F});
  expect_values({"silu", silu, {}}, {kNaN, kInfinity, -kInfinity}, {kNaN, kInfinity, kNaN});
  expect_values({"sigmoid", sigmoid, {}}, {kNaN, kInfinity, -kInfinity, 0}, {kNaN, 1, 0, 0.5F});
}

TEST_P(ElementwiseValues, AnUpperLimitOfTheStateBelowTheLowerOneIsTheResult) {
  state_ = StateBlock(device_, StateLayout().host_f32("min", -1).host_f32("max", 3));
  const Function between{"clamp",
                         [](Recorder& r, const Tensor& x) {
                           return clamp(r, x, {.min = r.state("min"), .max = r.state("max")});
                         },
                         {}};
  const Values x{-kInfinity, -5, 0, 7, kInfinity, kNaN};
  expect_values(between, x, {-1, -1, 0, 3, 3, kNaN});
  state_.set("max", -2.0F);
  expect_values(between, x, {-2, -2, -2, -2, -2, kNaN});
}

TEST_P(ElementwiseValues, ACapOfTheStateThatIsNoneKeepsWhatItGets) {
  const Function capped{
      "softcap",
      [](Recorder& r, const Tensor& x) { return softcap(r, x, {.cap = r.state("cap")}); },
      {}};
  const Values x{-kInfinity, -5, 0, 7, kInfinity, kNaN};
  for (const float cap : {0.0F, -3.0F, 1e-39F}) {
    SCOPED_TRACE(cap);
    state_ = StateBlock(device_, StateLayout().host_f32("cap", cap));
    expect_values(capped, x, x);
  }
  state_.set("cap", 2.0F);
  expect_values(capped, x, {-2, -1.9732286F, 0, 1.9963567F, 2, kNaN});
}

TEST_P(ElementwiseValues, AJoinedOperandIsThoseOfItsHalves) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  const auto x = random_bytes(rng, DType::f32, std::int64_t{7} * 130, -4, 4);
  const auto of = [&](bool joined) {
    return run(device_, [&](GraphSession& s) {
      const Tensor both = s.input("x", {7, 130}, DType::f32, x);
      return joined ? gelu_mul(s, both)
                    : gelu_mul(s, slice(s, both, 1, 0, 65), slice(s, both, 1, 65, 65));
    });
  };
  EXPECT_EQ(of(true), of(false));
}

class ElementwiseErrors : public ::testing::Test {
 protected:
  template <class F>
  void expect_refused(const std::vector<std::string>& parts, const F& record) {
    auto s = executor_.begin();
    expect_error(ErrorCode::invalid_argument, parts, [&] { (void)record(s); });
  }
  const Device device_ = test_device("cpu");
  GraphExecutor executor_{device_};
  const Tensor x_ = device_.zeros({3, 5}, DType::f32, "x");
};

TEST_F(ElementwiseErrors, ALowerLimitIsAtMostTheUpperOne) {
  expect_refused({"clamp", "(2.0", "(1.0"},
                 [this](GraphSession& s) { return clamp(s, x_, {.min = 2, .max = 1}); });
  expect_refused({"clamp", "(nan)"}, [this](GraphSession& s) {
    return clamp(s, x_, {.min = std::numeric_limits<float>::quiet_NaN()});
  });
}

TEST_F(ElementwiseErrors, ACapIsANormalNumberAboveZero) {
  for (const float cap : {0.0F, -1.0F, kInfinity, kNaN, 1e-39F}) {
    expect_refused({"softcap", "above 0", "(" + std::to_string(cap) + ")"},
                   [&](GraphSession& s) { return softcap(s, x_, {.cap = cap}); });
  }
}

TEST_F(ElementwiseErrors, HalvesAreOfOneSizeAndOperandsOfOneShape) {
  expect_refused({"gelu_mul", "even last dimension", "'x' f32 [3, 5]", "(5)"},
                 [this](GraphSession& s) { return gelu_mul(s, x_); });
  const Tensor other = device_.zeros({3, 4}, DType::f32, "other");
  expect_refused({"sigmoid_mul", "equal shapes", "[3, 5]", "[3, 4]"},
                 [&](GraphSession& s) { return sigmoid_mul(s, x_, other); });
  expect_refused({"div", "multiple", "[3, 5]", "[3, 4]"},
                 [&](GraphSession& s) { return div(s, x_, other); });
}

TEST_F(ElementwiseErrors, AnEmptySecondOperandIsNotTheFormOfOne) {
  const Tensor both = device_.zeros({3, 4}, DType::f32, "both");
  expect_refused({"gelu_mul needs up", "empty tensor"},
                 [&](GraphSession& s) { return gelu_mul(s, both, Tensor()); });
  expect_refused({"sigmoid_mul needs up", "empty tensor"},
                 [&](GraphSession& s) { return sigmoid_mul(s, both, Tensor()); });
  expect_refused({"silu_mul needs up", "empty tensor"},
                 [&](GraphSession& s) { return silu_mul(s, both, Tensor()); });
}

TEST_F(ElementwiseErrors, OperandsAreOfF32) {
  const Tensor halves = device_.zeros({3, 5}, DType::f16, "halves");
  expect_refused({"gelu", "'halves' f16 [3, 5]", "f32"},
                 [&](GraphSession& s) { return gelu(s, halves); });
  expect_refused({"scale", "'halves' f16 [3, 5]", "f32"},
                 [&](GraphSession& s) { return scale(s, halves, {}); });
}

}  // namespace
}  // namespace reprise::testing
