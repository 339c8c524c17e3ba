// The kernels chosen for a software driver against those that every device can run: equal bits.
#include <algorithm>

#include "tests/ops/case_run.h"
#include "tests/ops/op_case_table.h"

namespace reprise::testing {
namespace {

TEST(KernelVariants, GiveTheBitsOfThePortableOnes) {
  const Device device = test_device("vulkan");
  if (device.backend().traits().kernels != KernelFamily::lanes) {
    GTEST_SKIP() << "This device runs the portable kernels.";
  }
  OpenOptions options;
  options.kernels = KernelFamily::portable;
  const Device portable = open_device("vulkan", options);
  const std::uint64_t seed = fresh_seed();
  SCOPED_TRACE(seed_note(seed));
  const auto ops = all_op_cases();
  for (const OpCase& row : std::ranges::find(ops, "matmul", &NamedCases::op)->cases()) {
    EXPECT_TRUE(run_case(device, row, true, seed) == run_case(portable, row, true, seed))
        << row.label;
  }
}

}  // namespace
}  // namespace reprise::testing
