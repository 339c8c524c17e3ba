// What a recorder refuses, and the grammar of its messages: what is wrong with which operands, then
// "(while recording '<session>' op <n> <op> (<scope>), <file>:<line>)".
#include "reprise/core/recorder.h"

#include "tests/testing.h"

namespace reprise::testing {
namespace {

std::string here(int line) { return std::string(__FILE__) + ":" + std::to_string(line); }

class RecorderErrors : public ::testing::Test {
 protected:
  RecorderErrors()
      : state_(device_, StateLayout().host("pos").host_f32("temperature").carried("token")),
        session_(executor_.begin_recorded({.name = "forward", .state = state_})),
        x_(session_.input("x", {2, 4}, std::vector<float>(8, 1.0F))),
        ids_(session_.input("ids", {2, 4}, std::vector<std::int32_t>(8, 1))),
        weight_(device_.zeros({3}, DType::f32, "norm")),
        table_(device_.zeros({4, 4}, DType::f32, "cache")) {}

  static constexpr ErrorCode kWrong = ErrorCode::invalid_argument;
  Device device_ = test_device("cpu");
  GraphExecutor executor_{device_};
  StateBlock state_;
  GraphSession session_;
  Tensor x_, ids_, weight_, table_;
};

TEST_F(RecorderErrors, NameBothOperandsWithTheirShapes) {
  expect_error(kWrong, {"x ('x' f32 [2, 4])", "('norm' f32 [3])"},
               [&] { (void)add(session_, x_, weight_); });
}

TEST_F(RecorderErrors, NameResultsByTheirOp) {
  const Tensor sum = add(session_, x_, x_);
  expect_error(kWrong, {"(result of op 1 add, f32 [2, 4])"},
               [&] { (void)add(session_, sum, weight_); });
}

TEST_F(RecorderErrors, SayWhichOpOfWhichSessionInWhichScopeAndWhere) {
  (void)add(session_, x_, x_);
  const Scope layer = session_.scope("layer", 3);
  const Scope attention = session_.scope("attn");
  const int line = __LINE__ + 3;
  const std::string place =
      "(while recording 'forward' op 2 add (layer.3/attn), " + here(line) + ")";
  expect_error(kWrong, {place}, [&] { (void)add(session_, x_, weight_); });
}

TEST_F(RecorderErrors, LeaveOutTheOutermostScope) {
  { const Scope layer = session_.scope("layer", 3); }
  const int line = __LINE__ + 2;
  expect_error(kWrong, {"(while recording 'forward' op 1 add, " + here(line) + ")"},
               [&] { (void)add(session_, x_, weight_); });
}

TEST_F(RecorderErrors, CarryTheirPlaceAsData) {
  const Scope layer = session_.scope("layer", 0);
  const auto line = static_cast<std::uint32_t>(__LINE__ + 2);
  try {
    (void)add(session_, x_, weight_);
    FAIL() << "no error was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(e.place().op, 1U);
    EXPECT_EQ(e.place().scope, "layer.0");
    EXPECT_EQ(std::string(e.place().where.file), __FILE__);
    EXPECT_EQ(e.place().where.line, line);
    EXPECT_EQ(std::string(e.place().where.function), "TestBody");
  }
}

TEST_F(RecorderErrors, HaveNoPlaceOutsideOfARecording) {
  try {
    throw_invalid_argument("Something is wrong.");
  } catch (const Error& e) {
    EXPECT_EQ(e.place().op, ErrorPlace::kNoOp);
    EXPECT_EQ(std::string(e.what()), "Something is wrong.");
    EXPECT_TRUE(e.place().scope.empty());
    EXPECT_EQ(e.place().where.line, 0U);
  }
}

TEST_F(RecorderErrors, InvalidateTheSessionAndLaterCallsSayWhy) {
  const int line = __LINE__ + 1;
  expect_error(kWrong, {"norm"}, [&] { (void)add(session_, x_, weight_); });
  EXPECT_TRUE(session_.invalidated());
  EXPECT_NE(session_.reason().find(here(line)), std::string::npos);
  expect_error(kWrong, {"invalidated", "'norm' f32 [3]", here(line), here(__LINE__ + 1)},
               [&] { (void)mul(session_, x_, x_); });
  expect_error(kWrong, {"invalidated", "'norm' f32 [3]"}, [&] { session_.output("y", x_); });
}

TEST_F(RecorderErrors, OfChecksBeforeACallInvalidateTooAndNameTheirPlace) {
  const auto expect = [&](const std::string& op, const std::string& what, const auto& call) {
    SCOPED_TRACE(op);
    GraphSession s = executor_.begin_recorded({.name = "other", .state = state_});
    expect_error(kWrong, {what, "(while recording 'other' op 1 " + op + ", " + __FILE__},
                 [&] { call(s); });
    EXPECT_TRUE(s.invalidated());
  };
  expect("dispatch", "an empty handle", [](auto& s) { dispatch(s, {}, {}, {}, {}, {1, 1, 1}); });
  expect("host_step", "no function", [](auto& s) { host_step(s, "idle", {}, {}, nullptr); });
  expect("host_step", "Input (0)",
         [](auto& s) { host_step(s, "idle", {TensorRef()}, {}, [](HostStepCall&) {}); });
  expect("get_rows", "needs ids", [&](auto& s) { (void)get_rows(s, table_, Tensor()); });
  expect("set_rows", "needs ids", [&](auto& s) { set_rows(s, table_, table_, Tensor()); });
  expect("silu_mul", "needs up", [&](auto& s) { (void)silu_mul(s, table_, Tensor()); });
  expect("advance", "'temperature' of dtype (f32)",
         [&](auto& s) { advance(s, table_, {.position = s.state("temperature")}); });
}

TEST_F(RecorderErrors, LeaveTheReasonOfTheFirstOne) {
  expect_error(kWrong, {"norm"}, [&] { (void)add(session_, x_, weight_); });
  const std::string reason = session_.reason();
  expect_error(kWrong, {"invalidated"}, [&] { (void)mul(session_, x_, x_); });
  EXPECT_EQ(session_.reason(), reason);
}

TEST_F(RecorderErrors, InvalidateStateFieldsToo) {
  expect_error(kWrong, {"norm"}, [&] { (void)add(session_, x_, weight_); });
  expect_error(kWrong, {"invalidated", "'norm' f32 [3]"}, [&] { (void)session_.state("pos"); });
}

TEST_F(RecorderErrors, NameTheMissingOperand) {
  expect_error(kWrong, {"add needs y", "empty tensor"}, [&] { (void)add(session_, x_, {}); });
}

TEST_F(RecorderErrors, ListTheAllowedDtypes) {
  expect_error(kWrong, {"add does not accept", "x ('ids' i32 [2, 4])", "allowed: f32."},
               [&] { (void)add(session_, ids_, x_); });
}

TEST_F(RecorderErrors, ListAllOfSeveralAllowedDtypes) {
  expect_error(kWrong, {"matmul does not accept", "w ('ids' i32 [2, 4])", "f32, f16"},
               [&] { (void)matmul(session_, x_, ids_); });
}

TEST_F(RecorderErrors, AskForACopyWhereAStridedViewCannotBeUsed) {
  const Tensor turned = permute(session_, table_, {1, 0});
  expect_error(kWrong, {"set_rows needs a contiguous tensor", "table (", "f32 [4, 4]", "copy"},
               [&] { set_rows(session_, turned, x_, SetRowsAttributes{.position = 0}); });
}

TEST_F(RecorderErrors, AskForACopyWhereRowsMustBeNeighbours) {
  const Tensor turned = permute(session_, x_, {1, 0});
  expect_error(kWrong, {"rms_norm needs rows of neighbouring elements", "f32 [4, 2]", "copy"},
               [&] { (void)rms_norm(session_, turned, {}); });
}

TEST_F(RecorderErrors, SendTransientsOfAnotherSessionThroughOutputAndInput) {
  GraphSession other = executor_.begin_recorded();
  const Tensor theirs = other.input("theirs", {2, 4}, std::vector<float>(8, 1.0F));
  expect_error(kWrong, {"y (f32 [2, 4])", "another session", "output()", "input()"},
               [&] { (void)add(session_, x_, theirs); });
  EXPECT_FALSE(other.invalidated());
}

TEST_F(RecorderErrors, ListTheKnownStateFields) {
  const int line = __LINE__ + 3;
  expect_error(ErrorCode::unknown_name,
               {"(position)", "pos, temperature, token", "op 1 state", here(line)},
               [&] { (void)session_.state("position"); });
  EXPECT_TRUE(session_.invalidated());
}

TEST_F(RecorderErrors, SayThatASessionHasNoState) {
  GraphSession other = executor_.begin();
  expect_error(ErrorCode::unknown_name, {"(pos)", "none"}, [&] { (void)other.state("pos"); });
  GraphSession another = executor_.begin();
  expect_error(kWrong, {"state block"}, [&] { (void)another.state_block(); });
}

TEST_F(RecorderErrors, RefuseAStateFieldOfAnotherTypeAsAttribute) {
  const StateField pos = session_.state("pos"), temperature = session_.state("temperature");
  expect_error(kWrong, {"(f32)", "i32"}, [&] { (void)Param<std::int32_t>(temperature); });
  expect_error(kWrong, {"(i32)", "f32"}, [&] { (void)Param<float>(pos); });
  EXPECT_TRUE(Param<std::int32_t>(pos).dynamic());
  EXPECT_TRUE(Param<float>(temperature).dynamic());
}

TEST(Param, OfAnUnsetStateFieldIsRefused) {
  const int line = __LINE__ + 2;
  expect_error(ErrorCode::invalid_argument, {"unset", here(line)},
               [] { (void)Param<std::int32_t>(StateField()); });
}

TEST(Param, OfAConstantIsNotDynamic) {
  const Param<std::int32_t> param = 7;
  EXPECT_FALSE(param.dynamic());
  EXPECT_EQ(param.value, 7);
  EXPECT_FALSE(Param<float>{}.dynamic());
}

TEST(DTypeSet, HoldsTheGivenTypesAndNoOther) {
  constexpr DTypeSet kSet = accepts({DType::f32, DType::q6_k});
  for (std::size_t i = 0; i < kDTypeCount; ++i) {
    const auto type = static_cast<DType>(i);
    EXPECT_EQ((kSet >> i & 1U) != 0, type == DType::f32 || type == DType::q6_k) << name_of(type);
  }
}

TEST(ErrorCodes, HaveNames) {
  EXPECT_EQ(name_of(ErrorCode::invalid_argument), "invalid_argument");
  EXPECT_EQ(name_of(ErrorCode::unsupported), "unsupported");
  EXPECT_EQ(name_of(ErrorCode::out_of_memory), "out_of_memory");
  EXPECT_EQ(name_of(ErrorCode::device_lost), "device_lost");
  EXPECT_EQ(name_of(ErrorCode::timeout), "timeout");
  EXPECT_EQ(name_of(ErrorCode::io), "io");
}

TEST_F(RecorderErrors, SayWhereAnInputOrOutputIsDeclared) {
  (void)add(session_, x_, x_);
  const int line = __LINE__ + 3;
  expect_error(kWrong,
               {"input 'x' already", "(while recording 'forward' op 2 input, " + here(line) + ")"},
               [&] { (void)session_.input("x", {1}, std::vector<float>(1)); });
  GraphSession other = executor_.begin_recorded({.name = "other"});
  const int next = __LINE__ + 3;
  expect_error(kWrong,
               {"'y' is an empty", "(while recording 'other' op 0 output, " + here(next) + ")"},
               [&] { other.output("y", Tensor()); });
  GraphSession third = executor_.begin_recorded({.name = "third"});
  const int last = __LINE__ + 2;
  expect_error(ErrorCode::unknown_name, {"op 0 state_array, " + here(last)},
               [&] { (void)third.state_array("a"); });
}

TEST_F(RecorderErrors, SayWhereAShapeOrAStateFieldIsWrong) {
  const int line = __LINE__ + 1;
  expect_error(kWrong, {"[-1, 4]", "(" + here(line) + ")"}, [&] { (void)Shape({-1, 4}); });
  const int next = __LINE__ + 2;
  expect_error(kWrong, {"'temperature' of dtype (f32)", "(" + here(next) + ")"}, [&] {
    set_rows(session_, table_, x_, SetRowsAttributes{.position = session_.state("temperature")});
  });
}

TEST_F(RecorderErrors, OfAnOpNameOnePlace) {
  try {
    (void)slice(session_, x_, 0, 0, -1);  // the shape rule makes the shape that is wrong
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find(".cpp:"), message.rfind(".cpp:")) << message;
  }
}

}  // namespace
}  // namespace reprise::testing
