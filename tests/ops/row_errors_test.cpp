// What ops over rows refuse.
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class RowErrors : public ::testing::Test {
 protected:
  template <class Call>
  void expect_refused(const std::vector<std::string>& parts, Call&& call,
                      ErrorCode code = ErrorCode::invalid_argument) {
    auto s = executor_.begin({.state = state_, .extents = std::vector<ExtentBucket>{{"rows", 6}}});
    expect_error(code, parts, [&] { (void)call(s); });
  }
  Tensor zeros(const Shape& shape, const std::string& name, DType dtype = DType::f32) {
    return device_.zeros(shape, dtype, name);
  }
  const Device device_ = test_device("cpu");
  const StateBlock state_{device_, StateLayout().host("rows", 1).host_f32("max_bias")};
  GraphExecutor executor_{device_};
};

TEST_F(RowErrors, WeightAndBiasHaveTheColumnsOfX) {
  const Tensor x = zeros({3, 8}, "x");
  const Tensor w = zeros({8}, "w");
  expect_refused({"layer_norm needs equal last dimensions", "'w' f32 [7]"},
                 [&](auto& s) { return layer_norm(s, x, zeros({7}, "w")); });
  expect_refused({"layer_norm needs rank 1", "'b' f32 [1, 8]"}, [&](auto& s) {
    return layer_norm(s, x, w, zeros({1, 8}, "b"));
  });
}

TEST_F(RowErrors, AMaskHasTheColumnsAndAtLeastTheRowsOfX) {
  const Tensor x = zeros({4, 3, 8}, "x");
  const auto with_mask = [&](const Shape& shape) {
    return [this, x, shape](auto& s) {
      const Tensor mask = zeros(shape, "mask");
      return softmax(s, x, {.mask = mask});
    };
  };
  expect_refused({"softmax needs equal last dimensions", "'mask' f32 [3, 9]"}, with_mask({3, 9}));
  expect_refused({"softmax needs a mask", "'mask' f32 [2, 8]"}, with_mask({2, 8}));
  expect_refused({"divide", "'mask' f32 [3, 3, 8]"}, with_mask({3, 3, 8}));
}

TEST_F(RowErrors, AMaskIsF32OrF16) {
  const Tensor mask = zeros({3, 8}, "mask", DType::i32);
  expect_refused({"does not accept the dtype", "'mask' i32", "f32, f16"}, [&](auto& s) {
    return log_softmax(s, zeros({3, 8}, "x"), {.mask = mask});
  });
}

TEST_F(RowErrors, EachHeadHasASink) {
  const Tensor sinks = zeros({3}, "sinks");
  expect_refused({"softmax needs a sink for each head", "'sinks' f32 [3]"}, [&](auto& s) {
    return softmax(s, zeros({4, 3, 8}, "x"), {.sinks = sinks});
  });
}

TEST_F(RowErrors, SlopesNeedAFixedNumberOfHeads) {
  for (const bool dynamic : {false, true}) {
    expect_refused({"softmax with slopes", "extent of the state"}, [&](auto& s) {
      const Tensor x = s.input("x", {s.extent("rows"), 3, 8}, std::vector<float>(24));
      const Param<float> bias = dynamic ? Param<float>(s.state("max_bias")) : Param<float>(8.0F);
      return softmax(s, x, {.max_bias = bias});
    });
  }
}

TEST_F(RowErrors, ACausalMaskNeedsRows) {
  expect_refused({"causal_mask needs rows", "'x' f32 [8]"},
                 [&](auto& s) { return causal_mask(s, zeros({8}, "x")); });
}

TEST_F(RowErrors, KIsAtLeastOneAndAtMostTheColumns) {
  const Tensor x = zeros({3, 8}, "x");
  expect_refused({"top_k chooses (1) to (8)", "'x' f32 [3, 8]", "k is (9)"},
                 [&](auto& s) { return top_k(s, x, {.k = 9}); });
  expect_refused({"(1) to (8)", "k is (0)"}, [&](auto& s) { return top_k(s, x, {.k = 0}); });
}

}  // namespace
}  // namespace reprise::testing
