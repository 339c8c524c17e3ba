// How devices answer the question whether they run an op.
#include "reprise/session/support.h"

#include "reprise/backend/backend.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class Supports : public ::testing::TestWithParam<std::string> {
 protected:
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
};
INSTANTIATE_TEST_SUITE_P(On, Supports, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(Supports, AProductOfEveryFormatIsNative) {
  for (const DType dtype : {DType::f32, DType::f16, DType::q8_0, DType::q4_0}) {
    const TensorSpec operands[] = {{{2, 64}, DType::f32}, {{32, 64}, dtype}, {}};
    const Support support = supports(executor_, "matmul", operands);
    EXPECT_EQ(support.kind, SupportKind::native) << support.reason;
    EXPECT_EQ(support.reason, "");
  }
}

TEST_P(Supports, ACallThatIsNoneIsUnsupportedWithItsReason) {
  const TensorSpec columns[] = {{{2, 64}, DType::f32}, {{32, 32}, DType::f32}, {}};
  const Support shapes = supports(executor_, "matmul", columns);
  EXPECT_EQ(shapes.kind, SupportKind::unsupported);
  EXPECT_NE(shapes.reason.find("64"), std::string::npos) << shapes.reason;
  const TensorSpec integers[] = {{{2, 64}, DType::i64}, {{32, 64}, DType::f32}, {}};
  const Support dtypes = supports(executor_, "matmul", integers);
  EXPECT_EQ(dtypes.kind, SupportKind::unsupported);
  EXPECT_NE(dtypes.reason.find("does not accept the dtype"), std::string::npos) << dtypes.reason;
}

TEST_P(Supports, UnknownOpsAndOtherOperandsAreTheCallersMistake) {
  const TensorSpec two[] = {{{2, 64}, DType::f32}, {{32, 64}, DType::f32}};
  expect_error(ErrorCode::unknown_name, {"(fly)"}, [&] { (void)supports(executor_, "fly", two); });
  expect_error(ErrorCode::invalid_argument, {"matmul", "(3)", "2"},
               [&] { (void)supports(executor_, "matmul", two); });
  const TensorSpec norm[] = {{{2, 64}, DType::f32}, {}};
  expect_error(ErrorCode::invalid_argument, {"rms_norm", "(0) bytes of attributes"},
               [&] { (void)supports(executor_, "rms_norm", norm); });
  const RmsNormAttributes eps{.eps = 1e-5F};
  EXPECT_EQ(supports(executor_, "rms_norm", norm, std::as_bytes(std::span(&eps, 1))).kind,
            SupportKind::native);
}

TEST_P(Supports, APassIsAskedAboutOpByOpAndNothingRuns) {
  const std::uint64_t submissions = device_.backend().last_submission();
  const std::uint64_t allocations = device_.backend().allocation_count();
  const auto nodes = supports(executor_, [](GraphSession& s) {
    const Tensor x = s.input("x", {2, 64}, std::vector<float>(128));
    const auto scope = s.scope("mlp");
    const Tensor h = rms_norm(s, x, {}, {.eps = 1e-5F});
    s.output("y", add(s, silu_mul(s, h, x), x));
  });
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes[0].op, "rms_norm");
  EXPECT_EQ(nodes[1].op, "silu_mul");
  EXPECT_EQ(nodes[2].op, "add");
  for (const NodeSupport& node : nodes) {
    EXPECT_EQ(node.scope, "mlp");
    EXPECT_EQ(node.support.kind, SupportKind::native) << node.support.reason;
    EXPECT_NE(std::string(node.where.file).find("support_test.cpp"), std::string::npos);
  }
  EXPECT_EQ(device_.backend().last_submission(), submissions);
  EXPECT_EQ(device_.backend().allocation_count(), allocations);
}

TEST(SupportsLowered, ReferencesOnTheCpuAreSaidToBeThatAndAreTheOracles) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  OpenOptions options;
  options.references_only = true;
  std::vector<std::vector<float>> results;
  for (const Device& device : {open_device("cpu", options), test_device("reference")}) {
    GraphExecutor executor(device);
    const TensorSpec operands[] = {{{2, 64}, DType::f32}, {{32, 64}, DType::f32}, {}};
    const Support support = supports(executor, "matmul", operands);
    EXPECT_EQ(support.kind, SupportKind::lowered);
    EXPECT_NE(support.reason.find("reference"), std::string::npos);
    const Tensor x = device.uniform({2, 64}, DType::f32, seed, -1, 1, "x");
    const Tensor w = device.uniform({32, 64}, DType::f32, seed + 1, -1, 1, "w");
    auto s = executor.begin();
    s.output("y", matmul(s, x, w));
    results.push_back(s.finish().read("y"));
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(SupportsLowered, WeightsAboveOneBindingTakeSeveralSteps) {
  GraphExecutor executor(test_device("vulkan", {.binding_bytes = 1U << 20U}));
  const TensorSpec operands[] = {{{1, 1024}, DType::f32}, {{1024, 1024}, DType::f32}, {}};
  const Support support = supports(executor, "matmul", operands);
  EXPECT_EQ(support.kind, SupportKind::lowered);
  EXPECT_NE(support.reason.find(" steps"), std::string::npos) << support.reason;
}

TEST(SupportsLowered, WhatOneBindingCannotHoldIsUnsupportedWithItsLimit) {
  GraphExecutor executor(test_device("vulkan", {.binding_bytes = 1U << 20U}));
  const TensorSpec operands[] = {{{1024, 1024}, DType::f32}, {{1024, 1024}, DType::f32}};
  const Support support = supports(executor, "add", operands);
  EXPECT_EQ(support.kind, SupportKind::unsupported);
  EXPECT_NE(support.reason.find("1048576"), std::string::npos) << support.reason;
}

}  // namespace
}  // namespace reprise::testing
