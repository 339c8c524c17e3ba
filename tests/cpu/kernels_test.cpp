// Kernels of every instruction set this machine has, at several numbers of threads, against the
// references.
#include <hwy/targets.h>

#include "reprise/formats/gguf.h"
#include "samples/llama/forward.h"
#include "tests/ops/case_run.h"
#include "tests/ops/op_case_table.h"

namespace reprise::testing {
namespace {

/// Only these instruction sets while it lives.
class UseTargets {
 public:
  explicit UseTargets(std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().DeInit();
  }
  UseTargets(const UseTargets&) = delete;
  UseTargets& operator=(const UseTargets&) = delete;
  ~UseTargets() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
  }
};

std::vector<std::int64_t> targets() {
  std::vector<std::int64_t> all;
  for (std::int64_t left = hwy::SupportedTargets() & (HWY_SSSE3 | HWY_AVX2 | HWY_AVX3 |
                                                      HWY_AVX3_DL | HWY_NEON);
       left != 0; left &= left - 1) {
    all.push_back(left & -left);
  }
  return all;
}

TEST(CpuKernels, OfEveryInstructionSetComputeWhatTheReferencesDo) {
  ASSERT_FALSE(targets().empty());
  const std::uint64_t seed = fresh_seed();
  SCOPED_TRACE(seed_note(seed));
  for (const NamedCases& op : all_op_cases()) {
    for (const OpCase& row : op.cases()) {
      const CaseOutputs expected = run_case(test_device("reference"), row, false, seed);
      for (const std::int64_t target : targets()) {
        SCOPED_TRACE(std::string(op.op) + " " + row.label + " " + hwy::TargetName(target));
        const UseTargets only(target);
        expect_close(expected, run_case(test_device("cpu"), row, false, seed), row);
      }
    }
  }
}

Device cpu_of(unsigned threads) {
  OpenOptions options;
  options.threads = threads;
  return open_device("cpu", options);
}

class CpuPrecision : public ::testing::TestWithParam<DType> {
 protected:
  /// Products that are large enough to be shared out, in each of the ways rows of x are grouped.
  std::vector<std::vector<float>> products(const Device& device, Precision precision) {
    std::mt19937_64 rng(seed_);
    const Shape shape{515, 352};
    const Tensor w =
        device.from_host(shape, GetParam(),
                         random_bytes(rng, GetParam(), shape.elements(), -1, 1), "w");
    GraphExecutor executor(device, {.precision = precision});
    auto session = executor.begin();
    const std::vector<std::int64_t> rows{1, 2, 7, 205};
    for (const std::int64_t n : rows) {
      const Tensor x =
          session.input("x" + std::to_string(n), {n, 352}, DType::f32,
                        random_bytes(rng, DType::f32, n * 352, -1, 1));
      session.output("y" + std::to_string(n), matmul(session, x, w));
    }
    const auto result = session.finish();
    std::vector<std::vector<float>> all;
    for (const std::int64_t n : rows) {
      all.push_back(result.read("y" + std::to_string(n)));
    }
    return all;
  }
  const std::uint64_t seed_ = fresh_seed();
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, seed_note(seed_)};
};
INSTANTIATE_TEST_SUITE_P(Of, CpuPrecision,
                         ::testing::Values(DType::f32, DType::f16, DType::q8_0, DType::q4_0),
                         [](const auto& p) { return std::string(name_of(p.param)); });

TEST_P(CpuPrecision, GivesTheSameBitsAtEveryNumberOfThreads) {
  for (const Precision precision : {Precision::exact, Precision::fast}) {
    const auto alone = products(cpu_of(1), precision);
    for (const unsigned threads : {2U, 3U, 7U}) {
      EXPECT_EQ(products(cpu_of(threads), precision), alone)
          << threads << " threads, " << name_of(precision);
    }
  }
}

TEST_P(CpuPrecision, FastRoundsActivationsOfQuantisedWeightsAlone) {
  const bool quantised = info_of(GetParam()).block_elements > 1;
  for (const std::int64_t target : targets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    const UseTargets only(target);
    const auto expected = products(test_device("reference"), Precision::exact);
    const auto exact = products(test_device("cpu"), Precision::exact);
    const auto fast = products(test_device("cpu"), Precision::fast);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::vector<double> reference(expected[i].begin(), expected[i].end());
      EXPECT_LE(nmse(reference, {exact[i].begin(), exact[i].end()}), 1e-11);
      const double of_fast = nmse(reference, {fast[i].begin(), fast[i].end()});
      // Rounding to 8 bits: an error of up to 1/254 of a block's largest value each.
      EXPECT_LE(of_fast, quantised ? 1e-4 : 1e-11);
    }
  }
}

}  // namespace
}  // namespace reprise::testing
