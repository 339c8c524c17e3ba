// Where a session stands, and after a throw where it failed and why.
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class SessionStatus : public ::testing::TestWithParam<std::string> {
 protected:
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  const std::vector<float> x_{1, 2, 3, 4};
};
INSTANTIATE_TEST_SUITE_P(On, SessionStatus, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(SessionStatus, CountsOpsWhileRecordingAndFinishes) {
  auto s = executor_.begin_recorded();
  EXPECT_EQ(s.status().phase, SessionPhase::recording);
  EXPECT_EQ(s.status().op_index, 0U);
  const Tensor x = s.input("x", {4}, x_);
  s.output("y", add(s, add(s, x, x), x));
  EXPECT_EQ(s.status().op_index, 2U);
  (void)s.finish();
  EXPECT_EQ(s.status().phase, SessionPhase::finished);
  EXPECT_EQ(s.status().reason, "");
}

TEST_P(SessionStatus, SaysWhichOpFailedWhereAndWhy) {
  for (const bool recorded : {false, true}) {
    auto s = recorded ? executor_.begin_recorded() : executor_.begin();
    const Tensor x = s.input("x", {4}, x_);
    const Tensor y = add(s, x, x);
    std::string message;
    {
      const auto layer = s.scope("layer", 3);
      const auto attention = s.scope("attn");
      try {
        (void)matmul(s, y, s.input("w", {3, 3}, std::vector<float>(9)));
      } catch (const Error& error) {
        message = error.what();
      }
    }
    const auto status = s.status();
    EXPECT_EQ(status.phase, SessionPhase::invalidated);
    EXPECT_EQ(status.op_index, 1U);
    EXPECT_EQ(status.label, "matmul (layer.3/attn)");
    EXPECT_EQ(status.reason, message);
    EXPECT_NE(std::string(status.where.file).find("session_status_test"), std::string::npos);
    EXPECT_GT(status.where.line, 0U);
  }
}

TEST_P(SessionStatus, KeepsTheFirstFailure) {
  auto s = executor_.begin();
  EXPECT_THROW((void)s.state("pos"), Error);
  const auto first = s.status();
  EXPECT_EQ(first.label, "state");
  EXPECT_THROW((void)s.finish(), Error);
  EXPECT_EQ(s.status().label, "state");
  EXPECT_EQ(s.status().reason, first.reason);
}

TEST_P(SessionStatus, AFailedFinishInvalidates) {
  auto s = executor_.begin_recorded();
  s.output("x", s.input("x", {4}, x_));
  EXPECT_THROW((void)s.finish({.slots = 0}), Error);
  EXPECT_EQ(s.status().phase, SessionPhase::invalidated);
  EXPECT_EQ(s.status().label, "finish");
}

}  // namespace
}  // namespace reprise::testing
