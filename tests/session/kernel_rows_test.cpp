// Which functions the steps of the CPU run, as the profiling database has them.
#include "framework/profile/profile_check.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

/// The parameter: whether the session is recorded.
class KernelRows : public ::testing::TestWithParam<bool> {
 protected:
  /// y = row * w^T, passed through the host.
  std::string kernels_of(bool references_only) const {
    const auto path = folder_ / "profile.db";
    {
      OpenOptions options = test_options("cpu");
      options.references_only = references_only;
      const Device device = open_device("cpu", options);
      const Tensor w = device.from_host({4, 4}, std::vector<float>(16, 2.0F), "w");
      const StateBlock state(device,
                             StateLayout().host("row", 1).derived("next", field("row") + 1));
      GraphExecutor executor(device, {.profile = path});
      auto s =
          GetParam() ? executor.begin_recorded({.state = state}) : executor.begin({.state = state});
      const Tensor y = matmul(s, get_rows(s, w, s.state("row")), w);
      s.output("y", host_step(s, "copy", {y}, {y.spec()}, [](HostStepCall& call) {
                 std::ranges::copy(call.input<float>(0), call.output<float>(0).begin());
               })[0]);
      (void)s.finish();
    }
    EXPECT_TRUE(check_profile(path).empty());
    return test::sql(path,
                     "SELECT n.op, k.name FROM steps s JOIN nodes n ON n.graph_id = s.graph_id AND "
                     "n.idx = s.node_idx LEFT JOIN kernels k ON k.id = s.kernel_id ORDER BY s.idx");
  }
  const test::TempFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(In, KernelRows, ::testing::Bool(),
                         [](const auto& form) { return form.param ? "recorded" : "direct"; });

TEST_P(KernelRows, NameTheKernelOfTheCpuOrTheReferenceAndNothingForFunctionsOfTheCaller) {
  EXPECT_EQ(kernels_of(false),
            "plan|reference\nget_rows|cpu:get_rows\nmatmul|cpu:matmul\nhost_step|NULL");
}

TEST_P(KernelRows, NameTheReferenceOfEveryOpOnADeviceOfReferences) {
  EXPECT_EQ(kernels_of(true),
            "plan|reference\nget_rows|reference\nmatmul|reference\nhost_step|NULL");
}

}  // namespace
}  // namespace reprise::testing
