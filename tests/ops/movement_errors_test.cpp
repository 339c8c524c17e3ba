// What the ops that move or convert elements refuse, at the call.
#include <functional>

#include "reprise/ops.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class MovementErrors : public ::testing::Test {
 protected:
  Tensor of(const Shape& shape, DType dtype = DType::f32) {
    return device_.zeros(shape, dtype, "t");
  }
  template <class F>
  void expect_refused(const std::vector<std::string>& parts, F&& call) {
    auto session = executor_.begin();
    expect_error(ErrorCode::invalid_argument, parts, [&] { (void)call(session); });
  }

  Device device_ = test_device("cpu");
  GraphExecutor executor_{device_};
};

TEST_F(MovementErrors, ConcatNamesWhatDoesNotMatch) {
  expect_refused({"concat", "equal dimensions but for dimension (1)", "[2, 3]", "[4, 3]"},
                 [&](GraphSession& s) {
                   return concat(s, of({2, 3}), of({4, 3}), 1);
                 });
  expect_refused({"concat", "one dtype", "f32 [2, 3]", "f16 [2, 3]"}, [&](GraphSession& s) {
    return concat(s, of({2, 3}), of({2, 3}, DType::f16), 0);
  });
  expect_refused({"concat", "one rank", "[2, 3]", "[3]"}, [&](GraphSession& s) {
    return concat(s, of({2, 3}), of({3}), 0);
  });
  expect_refused({"concat", "dimension (2)", "0 to 1"}, [&](GraphSession& s) {
    return concat(s, of({2, 3}), of({2, 3}), 2);
  });
  expect_refused({"concat", "dimension (2147483647)", "0 to 1"}, [&](GraphSession& s) {
    return concat(s, of({2, 3}), of({2, 3}), std::size_t{1} << 40U);
  });
  expect_refused({"concat", "whole blocks of 32", "(48)"}, [&](GraphSession& s) {
    return concat(s, of({2, 48}, DType::q8_0), of({2, 48}, DType::q8_0), 1);
  });
}

TEST_F(MovementErrors, RepeatNeedsMultiples) {
  expect_refused({"repeat", "multiples", "[2, 3]", "[4, 5]"}, [&](GraphSession& s) {
    return repeat(s, of({2, 3}), {4, 5});
  });
  expect_refused({"repeat", "multiples", "[2, 3]", "[6]"}, [&](GraphSession& s) {
    return repeat(s, of({2, 3}), {6});
  });
  expect_refused({"repeat", "multiples", "[0, 3]", "[4, 3]"}, [&](GraphSession& s) {
    return repeat(s, slice(s, of({2, 3}), 0, 1, 0), {4, 3});
  });
}

TEST_F(MovementErrors, PadTakesNothingNegativeAndNoOtherDimension) {
  expect_refused({"pad", "at least 0", "(-1) and (0) in dimension 1"}, [&](GraphSession& s) {
    return pad(s, of({2, 3}), {.before = {0, -1}});
  });
  expect_refused({"pad", "dimensions 0 to 1", "(0) and (2) in dimension 2"}, [&](GraphSession& s) {
    return pad(s, of({2, 3}), {.after = {0, 0, 2}});
  });
  expect_refused({"pad", "whole blocks of 256", "(0) and (32) in dimension 1"},
                 [&](GraphSession& s) {
                   return pad(s, of({2, 256}, DType::q4_k), {.after = {0, 32}});
                 });
}

TEST_F(MovementErrors, ExtentsOfTheStateStayInTheFirstDimension) {
  const StateBlock state(device_, StateLayout().host("rows", 2));
  const std::vector<float> values(6);
  const auto refused = [&](const std::vector<std::string>& parts, const auto& call) {
    auto s = executor_.begin(
        {.state = state, .extents = {{"rows", 4}}, .inputs = {{"x", std::span(values)}}});
    const Tensor x = s.input("x", {s.extent("rows"), 3});
    expect_error(ErrorCode::invalid_argument, parts, [&] { (void)call(s, x); });
  };
  refused({"concat", "dimension (0)", "extent of the state"},
          [&](GraphSession& s, const Tensor& x) { return concat(s, x, x, 0); });
  refused({"concat", "one extent of the state"}, [&](GraphSession& s, const Tensor& x) {
    return concat(s, x, of({4, 3}), 1);
  });
  refused({"repeat", "extent of the state"}, [&](GraphSession& s, const Tensor& x) {
    return repeat(s, x, {8, 3});
  });
  refused({"repeat", "extent of the state"}, [&](GraphSession& s, const Tensor& x) {
    return repeat(s, x, {4, 3});
  });
  refused({"pad", "first dimension", "(1) and (0) in dimension 0"},
          [&](GraphSession& s, const Tensor& x) { return pad(s, x, {.before = {1}}); });
}

TEST_F(MovementErrors, CastNamesPairsOfDtypesAndRowsThatSplitABlock) {
  expect_refused({"copy converts", "f32 [2, 32]", "(q5_K)"}, [&](GraphSession& s) {
    return cast(s, of({2, 32}), DType::q5_k);
  });
  expect_refused({"copy converts", "f16 [2, 32]", "(q8_0)"}, [&](GraphSession& s) {
    return cast(s, of({2, 32}, DType::f16), DType::q8_0);
  });
  expect_refused({"copy to q4_0", "whole blocks of 32", "rows of (48)"}, [&](GraphSession& s) {
    return cast(s, of({2, 48}), DType::q4_0);
  });
  expect_refused({"copy does not accept the dtype", "i64"},
                 [&](GraphSession& s) { return copy(s, of({2}, DType::i64)); });
}

TEST_F(MovementErrors, SetRowsNamesTablesItCannotWrite) {
  for (const DType dtype : {DType::bf16, DType::q4_1, DType::q6_k}) {
    expect_refused({"set_rows does not accept the dtype of table", std::string(name_of(dtype)),
                    "allowed: f32, f16, i32, q8_0, q4_0"},
                   [&](GraphSession& s) {
                     const std::int64_t cols = 256;
                     set_rows(s, of({4, cols}, dtype), of({1, cols}), {.position = 0});
                     return 0;
                   });
  }
  expect_refused({"set_rows", "i32 values for an i32 table"}, [&](GraphSession& s) {
    set_rows(s, of({4, 32}, DType::q8_0), of({1, 32}, DType::i32), {.position = 0});
    return 0;
  });
}

TEST_F(MovementErrors, WeightsOfIntegersAreRefusedByTheirDtype) {
  expect_refused({"matmul does not accept the dtype of w", "i32", "allowed: f32, f16, bf16, q8_0"},
                 [&](GraphSession& s) {
                   return matmul(s, of({1, 32}), of({4, 32}, DType::i32));
                 });
  expect_refused({"get_rows does not accept the dtype of table", "i64"}, [&](GraphSession& s) {
    return get_rows(s, of({4, 32}, DType::i64), 1);
  });
}

TEST_F(MovementErrors, RowsAreSetFromOtherMemory) {
  const Tensor table = of({6, 4});
  const Tensor numbers = of({6}, DType::i32);
  const auto part = [&](GraphSession& s, std::int64_t first) {
    return slice(s, table, 0, first, 2);
  };
  expect_refused({"set_rows", "values outside of the memory of table", "copy it first"},
                 [&](GraphSession& s) {
                   set_rows(s, table, part(s, 0), {.position = 3});
                   return 0;
                 });
  expect_refused({"set_rows", "values outside"}, [&](GraphSession& s) {
    set_rows(s, part(s, 1), part(s, 2), {.position = 0});
    return 0;
  });
  expect_refused({"set_rows", "ids outside"}, [&](GraphSession& s) {
    set_rows(s, numbers, slice(s, of({6}, DType::i32), 0, 0, 6), numbers);
    return 0;
  });
  auto apart = executor_.begin();
  set_rows(apart, part(apart, 0), part(apart, 2), {.position = 0});
  (void)apart.finish();
}

TEST_F(MovementErrors, RowsThatAreKnownAreInTheTable) {
  for (const std::int32_t position : {-1, 5, 6, 100}) {
    expect_refused({"set_rows", "position from 0 to 4", "(" + std::to_string(position) + ")"},
                   [&](GraphSession& s) {
                     set_rows(s, of({6, 4}), of({2, 4}), {.position = position});
                     return 0;
                   });
  }
  for (const std::int32_t row : {-1, 6}) {
    expect_refused({"get_rows", "a row from 0 to 5", "(" + std::to_string(row) + ")"},
                   [&](GraphSession& s) {
                     return get_rows(s, of({6, 4}), row);
                   });
  }
  auto inside = executor_.begin();
  set_rows(inside, of({6, 4}), of({2, 4}), {.position = 4});
  set_rows(inside, of({6, 4}), of({2, 4}), {.position = 100, .window = 3});
  (void)inside.finish();
}

TEST_F(MovementErrors, TensorsHaveDimensions) {
  const std::vector<float> one(1);
  for (const auto& make :
       std::vector<std::function<void()>>{[&] { (void)executor_.begin().input("x", Shape{}, one); },
                                          [&] { (void)device_.zeros(Shape{}, DType::f32); },
                                          [&] { (void)device_.from_host(Shape{}, one); }}) {
    expect_error(ErrorCode::invalid_argument, {"rank (0)", "a scalar is [1]"}, make);
  }
}

// As GGML does, unlike NumPy: see binary.h.
TEST_F(MovementErrors, TheSecondOperandOfASumIsTiled) {
  auto s = executor_.begin();
  const std::vector<float> x{1, 2, 3, 4}, y{10, 20}, odd{1, 2, 3};
  const Tensor a = s.input("x", {4}, x);
  s.output("z", add(s, a, s.input("y", {2}, y)));
  EXPECT_EQ(s.finish().read("z"), (std::vector<float>{11, 22, 13, 24}));
  expect_refused({"add", "multiple", "[4]", "[3]"}, [&](GraphSession& other) {
    return add(other, other.input("x", {4}, x), other.input("y", {3}, odd));
  });
}

}  // namespace
}  // namespace reprise::testing
