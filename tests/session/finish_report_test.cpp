// What the report of a recorded session says of the passes.
#include "tests/testing.h"

namespace reprise::testing {
namespace {

TEST(FinishReports, CountWhatPassesFusedAndMoved) {
  const Device device = test_device("cpu");
  const Tensor w = device.from_host({64}, std::vector<float>(64, 2.0F), "w");
  GraphExecutor executor(device);
  // add and rms_norm become one call. In place are rms_norm, the first mul and the second add: the
  // last one writes an output.
  const auto report = [&](const PassOptions& passes) {
    auto s = executor.begin_recorded();
    const Tensor x = s.input("x", {1, 64}, std::vector<float>(64, 1.0F));
    const Tensor y = mul(s, rms_norm(s, add(s, x, x), w, {.eps = 1e-5F}), x);
    s.output("y", mul(s, add(s, y, x), x));
    return s.finish({.passes = passes}).report;
  };
  EXPECT_EQ(report(PassOptions::none()).fused_nodes, 0U);
  EXPECT_EQ(report(PassOptions::none()).moved_results, 0U);
  EXPECT_EQ(report(PassOptions::exact()).fused_nodes, 2U);
  EXPECT_EQ(report({.in_place = true}).fused_nodes, 0U);
  EXPECT_EQ(report({.in_place = true}).moved_results, 3U);
}

}  // namespace
}  // namespace reprise::testing
