// Devices that allow less than this one: every row of an op is refused with the limit, or runs as
// on a device without it, or runs here.
#include <algorithm>
#include <array>

#include "reprise/backend/backend.h"
#include "tests/ops/case_run.h"
#include "tests/ops/kernel_devices.h"
#include "tests/ops/op_case_table.h"

namespace reprise::testing {
namespace {

struct Limited {
  std::string name;
  LoweredLimits limits;
  /// Beginnings of the names of rows ("matmul 3x257") that are refused, and what the messages say.
  /// All others pass.
  std::vector<std::string> refused{};
  std::vector<std::string> says{};
};

void PrintTo(const Limited& limited, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << limited.name;
}

const std::vector<Limited>& all_limited() {
  static const std::vector<Limited> kAll{
      {"storage_range_of_1_MiB",
       {.binding_bytes = 1U << 20U},
       {"matmul batch_of_32x96", "matmul batch_of_65x"},
       {" binds (", "at most 1048576 bytes"}},
      {"state_of_256_bytes", {.state_bytes = 256}},
      {"four_storage_buffers",
       {.storage_buffers = 4},
       {"add_rms_norm ", "attention ", "collect ", "expert_check ", "gated_delta ",
        "matmul_experts ", "rope_set_rows ", "ssm_conv ", "ssm_scan "},
       {"tensors", "at most 4"}},
      {"no_subgroup_arithmetic", {.no_subgroup_arithmetic = true}},
      {"shared_memory_of_16_KiB", {.shared_bytes = 16384}},
      {"shared_memory_of_8_KiB", {.shared_bytes = 8192}}};
  return kAll;
}

using Plan = std::vector<FingerprintPart>;

/// Per row, in the order of the table, the plans that the tests of ops and of kernel families run.
const std::vector<std::array<Plan, 2>>& tested_plans() {
  static const std::vector<std::array<Plan, 2>> kPlans = [] {
    const Device usual = test_device("vulkan");
    const Device portable = test_device("vulkan", {}, KernelFamily::portable);
    std::vector<std::array<Plan, 2>> plans;
    for (const NamedCases& op : all_op_cases()) {
      for (const OpCase& row : op.cases()) {
        plans.push_back({plan_of_case(usual, row), plan_of_case(portable, row)});
      }
    }
    return plans;
  }();
  return kPlans;
}

class LoweredLimitsOf : public ::testing::TestWithParam<Limited> {
 protected:
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device("vulkan", GetParam().limits);
};
INSTANTIATE_TEST_SUITE_P(Ops, LoweredLimitsOf, ::testing::ValuesIn(all_limited()),
                         [](const auto& parameter) { return parameter.param.name; });

TEST_P(LoweredLimitsOf, EveryRowPassesOrIsRefusedWithTheLimit) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  auto tested = tested_plans().begin();
  for (const NamedCases& op : all_op_cases()) {
    for (const OpCase& row : op.cases()) {
      const std::array<Plan, 2>& elsewhere = *tested++;
      const std::string name = std::string(op.op) + " " + row.label;
      SCOPED_TRACE(name);
      const auto run = [&] { return run_case(device_, row, true, seed); };
      const auto names = [&](const std::string& beginning) { return name.starts_with(beginning); };
      if (std::ranges::any_of(GetParam().refused, names)) {
        expect_error(ErrorCode::unsupported, GetParam().says, run);
        continue;
      }
      if (std::ranges::count(elsewhere, plan_of_case(device_, row)) == 0) {
        expect_close(run_case(test_device("reference"), row, false, seed), run(), row);
      }
    }
  }
}

TEST(LoweredLimit, ShowsInCapabilitiesAndTraits) {
  const Device device = test_device("vulkan", {.binding_bytes = 1U << 20U,
                                               .state_bytes = 256,
                                               .storage_buffers = 4,
                                               .shared_bytes = 8192,
                                               .no_subgroup_arithmetic = true,
                                               .no_timestamps = true});
  const BackendCapabilities& has = device.capabilities();
  EXPECT_EQ(has.binding_bytes, 1U << 20U);
  EXPECT_EQ(has.state_bytes, 256U);
  EXPECT_EQ(has.storage_buffers, 4U);
  EXPECT_EQ(has.shared_bytes, 8192U);
  EXPECT_FALSE(has.subgroup_arithmetic);
  EXPECT_EQ(has.timestamp_valid_bits, 0U);
  EXPECT_EQ(has.kernels, KernelFamily::portable);
  EXPECT_EQ(device.unmet({.storage_buffers = 5}).size(), 1U);
}

TEST(LoweredLimit, OfTheStorageRangeRefusesLargerTensors) {
  const Device device = test_device("vulkan", {.binding_bytes = 1U << 20U});
  GraphExecutor executor(device);
  const Tensor x = device.zeros({(1 << 18) + 1}, DType::f32, "x");
  auto s = executor.begin();
  expect_error(ErrorCode::unsupported, {"add binds (1048580) bytes as x", "at most 1048576 bytes"},
               [&] {
                 s.output("y", add(s, x, x));
                 (void)s.finish();
               });
}

TEST(LoweredLimit, OfTheStateRefusesLargerLayouts) {
  const Device device = test_device("vulkan", {.state_bytes = 256});
  StateLayout layout;
  for (int i = 0; i < 64; ++i) {
    layout.host("field_" + std::to_string(i));
  }
  EXPECT_NO_THROW(StateBlock(device, layout));
  layout.host("one_more");
  expect_error(ErrorCode::unsupported, {"(260) bytes of fields", "at most 256 bytes"},
               [&] { (void)StateBlock(device, layout); });
}

TEST(LoweredLimit, OfSharedMemoryRefusesKernelsThatNeedMore) {
  expect_error(ErrorCode::unsupported, {"(gpu)", "16384 bytes of shared memory (8192)"},
               [] { (void)test_device("vulkan", {.shared_bytes = 8192}, KernelFamily::gpu); });
}

TEST(LoweredLimit, OfSubgroupsRefusesKernelsThatNeedThem) {
  if (!device_with("vulkan", KernelFamily::lanes)) {
    GTEST_SKIP() << "This device cannot run the (lanes) kernels anyway.";
  }
  expect_error(ErrorCode::unsupported, {"(lanes)", "subgroup arithmetic"}, [] {
    (void)test_device("vulkan", {.no_subgroup_arithmetic = true}, KernelFamily::lanes);
  });
}

TEST(LoweredLimit, OfTimestampsLeavesReplaysWithoutTimes) {
  for (const char* name : {"cpu", "vulkan"}) {
    const Device device = test_device(name, {.no_timestamps = true});
    GraphExecutor executor(device, {.timing = TimingMode::node});
    auto s = executor.begin_recorded();
    const std::vector<float> x{1, 2};
    s.output("y", add(s, s.input("x", {2}, x), s.input("z", {2}, x)));
    CapturedGraph graph = s.finish().graph;
    graph.launch();
    EXPECT_EQ(graph.read("y"), (std::vector<float>{2, 4}));
    EXPECT_FALSE(graph.last_times().device_ns) << name;
    EXPECT_EQ(device.backend().timestamps(4), nullptr) << name;
  }
}

}  // namespace
}  // namespace reprise::testing
