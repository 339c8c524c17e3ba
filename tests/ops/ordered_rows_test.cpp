// The order that argsort(), top_k() and max() give to numbers and to what is none.

#include "tests/testing.h"

namespace reprise::testing {
namespace {

using Ids = std::vector<std::int32_t>;

class OrderedRows : public ::testing::TestWithParam<std::string> {
 protected:
  template <class Call>
  FinishResult run(const std::vector<float>& row, Call&& call) {
    auto s = executor_.begin();
    const auto columns = static_cast<std::int64_t>(row.size());
    s.output("y", call(s, s.input("x", {1, columns}, row)));
    return s.finish();
  }
  Ids sorted(const std::vector<float>& row, bool descending) {
    return run(row, [&](GraphSession& s,
                        const Tensor& x) { return argsort(s, x, {.descending = descending}); })
        .read<std::int32_t>("y");
  }
  Ids largest(const std::vector<float>& row, std::int32_t k) {
    return run(row, [&](GraphSession& s, const Tensor& x) { return top_k(s, x, {.k = k}); })
        .read<std::int32_t>("y");
  }
  float maximum(const std::vector<float>& row) {
    return run(row, [](GraphSession& s, const Tensor& x) { return max(s, x); }).read("y")[0];
  }

  const ExpectNoValidationMessages quiet_;
  GraphExecutor executor_{test_device(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(On, OrderedRows, ::testing::Values("cpu", "reference", "vulkan"),
                         device_param_name);

TEST_P(OrderedRows, EqualElementsKeepTheOrderOfTheirColumns) {
  EXPECT_EQ(sorted({2, 1, 2, 1, -0.0F, 0.0F, -0.0F}, false), (Ids{4, 5, 6, 1, 3, 0, 2}));
  EXPECT_EQ(sorted({2, 1, 2, 1, -0.0F, 0.0F, -0.0F}, true), (Ids{0, 2, 1, 3, 4, 5, 6}));
  EXPECT_EQ(largest({2, 1, 2, 1, -0.0F, 0.0F, -0.0F}, 3), (Ids{0, 2, 1}));
}

TEST_P(OrderedRows, NanIsBelowEveryNumber) {
  const std::vector<float> row{kNan, kInfinity, -kInfinity, -kNan, 1e-40F, 0};
  EXPECT_EQ(sorted(row, false), (Ids{0, 3, 2, 5, 4, 1}));
  EXPECT_EQ(sorted(row, true), (Ids{1, 4, 5, 2, 0, 3}));
  EXPECT_EQ(largest(row, 5), (Ids{1, 4, 5, 2, 0}));
}

TEST_P(OrderedRows, TheMaximumOfARowWithNanIsNan) {
  EXPECT_TRUE(std::isnan(maximum({1, kNan, kInfinity})));
  EXPECT_EQ(maximum({-kInfinity, -3, -kInfinity}), -3);
  EXPECT_EQ(maximum({-kInfinity, -kInfinity}), -kInfinity);
}

}  // namespace
}  // namespace reprise::testing
