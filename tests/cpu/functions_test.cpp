// Functions of one number against those of the standard library in f64, at every size.
#include <hwy/targets.h>

#include "tests/cpu/instruction_sets.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

struct CpuFunction {
  std::string name;
  Tensor (*op)(Site, TensorRef);
  double (*of)(double);
  double largest;  // operand
  double relative, absolute;
};
std::ostream& operator<<(std::ostream& out, const CpuFunction& f) { return out << f.name; }

class CpuFunctions : public ::testing::TestWithParam<CpuFunction> {};
INSTANTIATE_TEST_SUITE_P(Of, CpuFunctions,
                         ::testing::Values(CpuFunction{"cos", cos, std::cos, 60000, 0, 3e-7},
                                           CpuFunction{"log", log, std::log, 3e38, 2e-7, 0},
                                           CpuFunction{"sin", sin, std::sin, 60000, 0, 3e-7},
                                           CpuFunction{"tanh", tanh, std::tanh, 3e38, 5e-7, 0}),
                         [](const auto& p) { return p.param.name; });

TEST_P(CpuFunctions, OfEveryInstructionSetAreGoodAtEverySize) {
  const CpuFunction& f = GetParam();
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<double> exponent(std::log(1e-30), std::log(f.largest));
  std::vector<float> x(20'000);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double size = std::exp(exponent(rng));
    x[i] = static_cast<float>(f.op != log && i % 2 == 0 ? -size : size);
  }
  // Near each other, so that vectors have none that is too large for all of them.
  std::ranges::sort(x, {}, [](float v) { return std::abs(v); });
  for (const std::int64_t target : targets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    const UseTargets only(target);
    GraphExecutor executor(test_device("cpu"));
    auto s = executor.begin();
    s.output("y", f.op(s, s.input("x", {static_cast<std::int64_t>(x.size())}, x)));
    const auto y = s.finish().read("y");
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double expected = f.of(x[i]);
      // Of sin and cos to 3e-7, where they are small to as many digits.
      const double small = std::min(1.0, f.op == sin ? std::abs(double{x[i]}) : 1.0);
      ASSERT_NEAR(y[i], expected, f.absolute * small + f.relative * std::abs(expected))
          << "of " << x[i];
    }
  }
}

}  // namespace
}  // namespace reprise::testing
