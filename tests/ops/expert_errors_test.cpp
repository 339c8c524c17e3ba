// What products and sums of experts refuse when they are recorded.
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class ExpertErrors : public ::testing::Test {
 protected:
  Tensor tensor(const char* name, const Shape& shape, DType dtype = DType::f32) const {
    return device_.zeros(shape, dtype, name);
  }
  template <class F>
  void expect_refused(const std::vector<std::string>& parts, F&& record) {
    auto s = executor_.begin();
    expect_error(ErrorCode::invalid_argument, parts, [&] { (void)record(s); });
  }
  const Device device_ = test_device("cpu");
  GraphExecutor executor_{device_};
  const Tensor x_ = tensor("x", {3, 2, 8});
  const Tensor w_ = tensor("w", {4, 5, 8});
  const Tensor ids_ = tensor("ids", {3, 2}, DType::i32);
};

TEST_F(ExpertErrors, RanksAreFixed) {
  expect_refused({"matmul_experts needs rank 3", "x (", "[6, 8]"}, [&](auto& s) {
    return matmul_experts(s, tensor("flat", {6, 8}), w_, ids_);
  });
  expect_refused({"needs rank 3", "w (", "[5, 8]"}, [&](auto& s) {
    return matmul_experts(s, x_, tensor("flat", {5, 8}), ids_);
  });
  expect_refused({"needs rank 2", "ids ("}, [&](auto& s) {
    return matmul_experts(s, x_, w_, tensor("flat", {6}, DType::i32));
  });
  expect_refused({"needs rank 1", "cells ("}, [&](auto& s) {
    return matmul_experts(s, x_, w_, ids_, tensor("table", {2, 2}, DType::i32));
  });
  expect_refused({"combine_experts needs rank 3"}, [&](auto& s) {
    return combine_experts(s, tensor("y", {3, 5}), tensor("weights", {3, 2}));
  });
  expect_refused({"combine_experts needs rank 2"}, [&](auto& s) {
    return combine_experts(s, tensor("y", {3, 2, 5}), tensor("weights", {3}));
  });
}

TEST_F(ExpertErrors, ShapesAgree) {
  expect_refused({"equal last dimensions", "[3, 2, 7]", "[4, 5, 8]"}, [&](auto& s) {
    return matmul_experts(s, tensor("x", {3, 2, 7}), w_, ids_);
  });
  expect_refused({"a row of x for each id", "[3, 3, 8]", "[3, 2]"}, [&](auto& s) {
    return matmul_experts(s, tensor("x", {3, 3, 8}), w_, ids_);
  });
  expect_refused({"a row of x for each id", "[2, 2, 8]", "[3, 2]"}, [&](auto& s) {
    return matmul_experts(s, tensor("x", {2, 2, 8}), w_, ids_);
  });
  expect_refused({"missing of the shape of its result f32 [3, 2, 5]", "[3, 2, 4]"}, [&](auto& s) {
    return matmul_experts(s, x_, w_, ids_, {}, tensor("missing", {3, 2, 4}));
  });
  expect_refused({"one weight for each expert of a row", "[3, 2, 5]", "[3, 3]"}, [&](auto& s) {
    return combine_experts(s, tensor("y", {3, 2, 5}), tensor("weights", {3, 3}));
  });
}

TEST_F(ExpertErrors, DtypesAreListed) {
  expect_refused({"does not accept the dtype of w", "i32", "q4_0"}, [&](auto& s) {
    return matmul_experts(s, x_, tensor("w", {4, 5, 8}, DType::i32), ids_);
  });
  expect_refused({"does not accept the dtype of ids", "allowed: i32"}, [&](auto& s) {
    return matmul_experts(s, x_, w_, tensor("ids", {3, 2}, DType::i64));
  });
}

}  // namespace
}  // namespace reprise::testing
