// What attention and rope refuse, and the ramp that YaRN gets.
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class AttentionErrors : public ::testing::Test {
 protected:
  template <class Call>
  void refused(const std::vector<std::string>& says, Call&& call) {
    auto s = executor_.begin();
    expect_error(ErrorCode::invalid_argument, says, [&] { (void)call(s); });
  }
  Tensor zeros(const Shape& shape, DType dtype = DType::f32) const {
    return device_.zeros(shape, dtype);
  }

  Device device_ = test_device("cpu");
  GraphExecutor executor_{device_};
  Tensor q_ = zeros({3, 4, 32});
  Tensor k_ = zeros({9, 2, 32}, DType::q8_0);
};

TEST_F(AttentionErrors, NameNumbersThatAreNone) {
  refused({"a finite softcap", "(-1.0"},
          [&](GraphSession& s) { return attention(s, q_, k_, k_, {.softcap = -1}); });
  refused({"a finite max_bias", "inf"},
          [&](GraphSession& s) { return attention(s, q_, k_, k_, {.max_bias = 1e38F * 1e3F}); });
  refused({"a window of at least 0", "(-5)"},
          [&](GraphSession& s) { return attention(s, q_, k_, k_, {.window = -5}); });
}

TEST_F(AttentionErrors, NameAPastThatCannotBe) {
  for (const std::int32_t past : {-1, 7}) {
    refused({"a past from 0 to (6)", "(" + std::to_string(past) + ")"},
            [&](GraphSession& s) { return attention(s, q_, k_, k_, {.past = past}); });
  }
  refused({"kv_len or past", "(7) and (2)"},
          [&](GraphSession& s) { return attention(s, q_, k_, k_, {.kv_len = 7, .past = 2}); });
}

TEST_F(AttentionErrors, NameSinksAndCachesThatDoNotMatch) {
  const Tensor sinks = zeros({2});
  refused({"sinks [heads]", "[2]"},
          [&](GraphSession& s) { return attention(s, q_, k_, k_, {.sinks = sinks}); });
  refused({"k and v of one dtype"}, [&](GraphSession& s) {
    return attention(s, q_, k_, zeros({9, 2, 32}));
  });
}

TEST_F(AttentionErrors, NameRampsAndSectionsOutOfRange) {
  refused({"an extrapolation from 0 to 1", "(1.5"},
          [&](GraphSession& s) { return rope(s, q_, {.extrapolation = 1.5F}); });
  refused({"a ramp within 0 to 32767", "(40000)"},
          [&](GraphSession& s) { return rope(s, q_, {.ramp_last = 40000}); });
  refused({"positions for its sections"}, [&](GraphSession& s) {
    return rope(s, q_, {.sections = {8, 8, 0, 0}});
  });
  const Tensor positions = zeros({3}, DType::i32);
  refused({"sections from 0 to 65535", "(-1)"}, [&](GraphSession& s) {
    return rope(s, q_, {.positions = positions, .sections = {8, -1, 0, 0}});
  });
  refused({"rank 2"}, [&](GraphSession& s) {
    return rope(s, q_, {.positions = positions, .sections = {8, 8, 0, 0}});
  });
}

TEST_F(AttentionErrors, ARotationIntoACacheHasAnglesAlone) {
  auto s = executor_.begin();
  const Tensor table = zeros({9, 4, 32});
  expect_error(ErrorCode::invalid_argument, {"call rope and set_rows"},
               [&] { rope_set_rows(s, table, q_, {}, {.magnitude = 2}); });
}

// 128 elements at a base of 10,000 turn 32 times and once within 4,096 positions at pairs 20.9 and
// 45.04 (appendix A.2 of the paper has the formula).
TEST(Yarn, FindsThePairsThatTurnOftenEnough) {
  const RopeAttributes a = with_yarn({.scale = 0.25F}, 128, {.context = 4096});
  EXPECT_EQ(a.ramp_first.value, 20);
  EXPECT_EQ(a.ramp_last.value, 46);
  EXPECT_EQ(a.extrapolation.value, 1);
  EXPECT_NEAR(static_cast<double>(a.magnitude.value), 1.1386294, 1e-6);
}

TEST(Yarn, RefusesAContextThatIsMissing) {
  expect_error(ErrorCode::invalid_argument, {"with_yarn needs a context"},
               [] { (void)with_yarn({.scale = 0.25F}, 128, {}); });
}

}  // namespace
}  // namespace reprise::testing
