// Families of kernels, each against the references: not only the one made for this device.
#include <algorithm>

#include "reprise/backend/backend.h"
#include "reprise/ops/argmax.h"
#include "reprise/ops/attention.h"
#include "reprise/ops/matmul.h"
#include "reprise/ops/rms_norm.h"
#include "samples/llama/generate.h"
#include "tests/ops/case_run.h"
#include "tests/ops/kernel_devices.h"
#include "tests/ops/op_case_table.h"

namespace reprise::testing {
namespace {

constexpr KernelFamily kFamilies[] = {KernelFamily::portable, KernelFamily::lanes,
                                      KernelFamily::gpu};

std::string name(KernelFamily family) { return std::string(name_of(family)); }

/// All rows of one op.
class KernelFamilies : public ::testing::Test {
 public:
  KernelFamilies(KernelFamily family, const NamedCases& op) : family_(family), op_(op) {}
  void TestBody() override {
    const std::optional<Device> device = device_with("vulkan", family_);
    if (!device) {
      GTEST_SKIP() << "This device cannot run these kernels.";
    }
    const std::uint64_t seed = test_seed();
    SCOPED_TRACE(seed_note(seed));
    const ExpectNoValidationMessages quiet;
    const Device usual = test_device("vulkan");
    for (const OpCase& row : op_.cases()) {
      SCOPED_TRACE(row.label);
      if (plan_of_case(*device, row) == plan_of_case(usual, row)) {
        continue;  // the tests of ops run it so
      }
      const CaseOutputs expected = run_case(test_device("reference"), row, false, seed);
      const CaseOutputs recorded = run_case(*device, row, true, seed);
      expect_close(expected, recorded, row);
      EXPECT_TRUE(recorded == run_case(*device, row, false, seed))
          << "direct and replayed outputs differ";
    }
  }

 private:
  KernelFamily family_;
  NamedCases op_;
};

// A suite per op, so that they run side by side.
const bool kRegisteredFamilies = [] {
  for (const NamedCases& op : all_op_cases()) {
    for (const KernelFamily family : kFamilies) {
      ::testing::RegisterTest(("KernelFamilies_" + std::string(op.op)).c_str(),
                              name(family).c_str(), nullptr, nullptr, __FILE__, __LINE__,
                              [family, op] { return new KernelFamilies(family, op); });
    }
  }
  return true;
}();

TEST(KernelFamiliesOfOps, AreRegistered) { EXPECT_TRUE(kRegisteredFamilies); }

TEST(KernelFamiliesTogether, GenerateTheSameText) {
  const std::vector<std::int32_t> prompt{1, 300, 301, 17, 44, 5, 260, 9, 81, 12, 33};
  for (const char* format : {"f16", "q8_0", "q4_0"}) {
    const auto file =
        GgufFile::open(std::string(REPRISE_MODELS_DIR) + "/tales-" + format + ".gguf");
    std::vector<std::int32_t> first;
    for (const KernelFamily family : kFamilies) {
      const std::optional<Device> device = device_with("vulkan", family);
      for (const llama::Mode mode : {llama::Mode::direct, llama::Mode::recorded}) {
        SCOPED_TRACE(std::string(format) + " " + name(family));
        if (!device) {
          continue;
        }
        const ExpectNoValidationMessages quiet;
        GraphExecutor executor(*device);
        const llama::Model model = llama::load_model(*device, file, 32);
        const auto ids =
            llama::generate(
                executor, model,
                {.prompt = prompt, .count = 12, .context = 32, .end_token = 2, .mode = mode},
                [](std::int32_t) {})
                .ids;
        first = first.empty() ? ids : first;
        EXPECT_EQ(ids, first);
      }
    }
  }
}

// Software drivers may end the loops of one invocation that reads a whole row.
TEST(LongRows, AreRefusedWhereTheirLoopsWouldEndEarly) {
  const Device device = test_device("vulkan");
  if (!device.backend().traits().cpu_type) {
    GTEST_SKIP() << "Loops of this device do not end early.";
  }
  using MakeRow = std::function<std::vector<Tensor>(CaseContext&)>;
  const std::pair<std::int64_t, MakeRow> rows[] = {
      {270000,
       [](auto& c) {
         return std::vector{rms_norm(c.recorder(), c.input({1, 270000}), {})};
       }},
      {530000,
       [](auto& c) {
         return std::vector{argmax(c.recorder(), c.input({1, 530000}))};
       }},
      {270000, [](auto& c) {
         return std::vector{matmul(c.recorder(), c.input({1, 270000}), c.input({1, 270000}))};
       }}};
  for (const auto& [columns, build] : rows) {
    const OpCase row{"long", 1e-11, "f32 sums of one row", build};
    expect_error(ErrorCode::unsupported, {"(" + std::to_string(columns) + ")", "at most 65535"},
                 [&] { (void)run_case(device, row, true, test_seed()); });
  }
}

// Software drivers may end the loops of one invocation that reads all keys.
TEST(LongCaches, AreReadToTheEndOrRefused) {
  constexpr std::int64_t kKeys = 3001;
  const OpCase row{
      "long", 1e-11, "f32 sums of one row", [](CaseContext& c) -> std::vector<Tensor> {
        return {attention(c.recorder(), c.input({5, 2, 64}), c.input({kKeys, 1, 64}, DType::f16),
                          c.input({kKeys, 1, 64}, DType::f16), {.kv_len = kKeys})};
      }};
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  const ExpectNoValidationMessages quiet;
  const CaseOutputs expected = run_case(test_device("reference"), row, false, seed);
  const Device device = test_device("vulkan");
  expect_close(expected, run_case(device, row, true, seed), row);
  const Device portable = test_device("vulkan", {}, KernelFamily::portable);
  if (!portable.backend().traits().cpu_type) {
    expect_close(expected, run_case(portable, row, true, seed), row);
    return;
  }
  expect_error(ErrorCode::unsupported, {"for 3001 keys", "at most 65535"},
               [&] { (void)run_case(portable, row, true, seed); });
}

TEST(LongCaches, AreRefusedWhereTheLoopsOfAWorkgroupWouldEndEarly) {
  const Device device = test_device("vulkan");
  if (!device.backend().traits().cpu_type) {
    GTEST_SKIP() << "Loops of this device do not end early.";
  }
  const OpCase row{"long", 1e-11, "f32 sums of one row", [](CaseContext& c) -> std::vector<Tensor> {
                     const Tensor keys = c.input({200000, 1, 8}, DType::f16);
                     return {attention(c.recorder(), c.input({5, 1, 8}), keys, keys)};
                   }};
  expect_error(ErrorCode::unsupported, {"attention", "(200000)", "at most 65535"},
               [&] { (void)run_case(device, row, true, test_seed()); });
}

}  // namespace
}  // namespace reprise::testing
