// Rows that are hard to order: shared by the ops that sort.
#pragma once
#include "reprise/ops/binary.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {

/// What an op makes of the rows of x.
using OrderCall = std::function<Tensor(Recorder&, const Tensor& x)>;

/// Rows with equal elements, subnormals, both zeros, infinities, NaN, and strided ones, all with at
/// least 60 columns. `prefix` begins their labels.
inline std::vector<OpCase> order_cases(const std::string& prefix, const OrderCall& call) {
  const auto make = [&](const std::string& name, std::function<Tensor(CaseContext&)> x) {
    return OpCase{prefix + name, 0, "indices", [=](CaseContext& c) -> std::vector<Tensor> {
                    return {call(c.recorder(), x(c))};
                  }};
  };
  // Of -4 to 4 what lies outside of -1.13 to 1.13 overflows.
  const auto large = [](CaseContext& c, double low) {
    const Tensor factor = c.input({1}, DType::f32, 3e38, 3e38);
    return mul(c.recorder(), c.input({9, 300}, DType::f32, low, 4), factor);
  };
  const auto times_zero = [](CaseContext& c, const Tensor& x) {
    const Tensor none = mul(c.recorder(), x, c.input({1}, DType::f32, 0, 0));
    return add(c.recorder(), none, c.input(x.shape()));
  };
  return {make("equals",
               [](CaseContext& c) {
                 const Tensor zeros = c.input({5, 256}, DType::f32, 0, 0);
                 return add(c.recorder(), zeros, c.input({5, 64}));
               }),
          make("both_zeros",
               [](CaseContext& c) {
                 return mul(c.recorder(), c.input({5, 100}), c.input({1}, DType::f32, 0, 0));
               }),
          make("subnormal",
               [](CaseContext& c) {
                 return c.input({7, 65}, DType::f32, -1e-39, 1e-39);
               }),
          make("infinite", [=](CaseContext& c) { return large(c, -4); }),
          make("some_not_a_number", [=](CaseContext& c) { return times_zero(c, large(c, -4)); }),
          make("not_a_number", [=](CaseContext& c) { return times_zero(c, large(c, 2)); }),
          make("strided", [](CaseContext& c) {
            const Tensor x = permute(c.recorder(), c.input({67, 5, 3}), {2, 1, 0});
            return slice(c.recorder(), x, 2, 1, 65);
          })};
}

}  // namespace reprise::testing
