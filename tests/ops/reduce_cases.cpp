#include "reprise/ops/binary.h"
#include "reprise/ops/reduce.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

using Call = Tensor (*)(Site, TensorRef);

struct Limit {
  double nmse;
  const char* why;
};

// Not around 0: the sum of numbers that cancel has no bits to lose.
OpCase shaped(Call call, const Limit& limit, const std::string& name, const Shape& shape) {
  return {name, limit.nmse, limit.why, [=](CaseContext& c) -> std::vector<Tensor> {
            return {call(c.recorder(), c.input(shape, DType::f32, 0.5, 1))};
          }};
}

OpCase strided(Call call, const Limit& limit) {
  return {
      "strided", limit.nmse, limit.why, [=](CaseContext& c) -> std::vector<Tensor> {
        const Tensor x = permute(c.recorder(), c.input({67, 5, 3}, DType::f32, 0.5, 1), {2, 1, 0});
        return {call(c.recorder(), slice(c.recorder(), x, 2, 1, 65))};
      }};
}

// More than is brought together at once.
OpCase long_strided(Call call, const Limit& limit) {
  return {"long_strided", limit.nmse, limit.why, [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor x = permute(c.recorder(), c.input({2501, 7}, DType::f32, 0.5, 1), {1, 0});
            return {call(c.recorder(), x)};
          }};
}

// What overflows is infinite: values of `low` to `high` outside of -0.97 to 0.97. Times 0 it is
// NaN.
OpCase not_finite(Call call, const Limit& limit, const std::string& name, std::int64_t cols,
                  double low, double high, double zero) {
  return {name, limit.nmse, limit.why, [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor large = c.input({1}, DType::f32, 3.5e38, 3.5e38);
            const Tensor x = mul(r, c.input({9, cols}, DType::f32, low, high), large);
            return {call(r, mul(r, x, c.input({1}, DType::f32, zero, zero)))};
          }};
}

// Subnormals and zeros of both signs: a device that flushes them would call them equal.
OpCase subnormal(Call call, const Limit& limit) {
  return {"subnormal", limit.nmse, limit.why, [=](CaseContext& c) -> std::vector<Tensor> {
            return {call(c.recorder(), c.input({7, 65}, DType::f32, -1e-39, 1e-40))};
          }};
}

}  // namespace

std::vector<OpCase> reduce_cases(std::string_view op) {
  const Call call = op == "max"    ? static_cast<Call>(max)
                    : op == "mean" ? static_cast<Call>(mean)
                    : op == "sum"  ? static_cast<Call>(sum)
                                   : static_cast<Call>(sum_rows);
  const Limit limit = op == "max" ? Limit{0, "elements"} : Limit{1e-11, "f32 sums of one row"};
  std::vector<OpCase> cases{shaped(call, limit, "1x1", {1, 1}),
                            shaped(call, limit, "vector", {257}),
                            shaped(call, limit, "65x65", {65, 65}),
                            shaped(call, limit, "2x3x17", {2, 3, 17}),
                            shaped(call, limit, "3x4097", {3, 4097}),
                            shaped(call, limit, "1x100003", {1, 100003}),
                            shaped(call, limit, "none", {0, 5}),
                            strided(call, limit),
                            long_strided(call, limit),
                            not_finite(call, limit, "infinite", 70, -1, 1, 1),
                            not_finite(call, limit, "not_a_number", 70, -1, 1, 0),
                            not_finite(call, limit, "long_infinite", 700, -0.9, 1, 1),
                            not_finite(call, limit, "long_not_a_number", 700, -1, 1, 0)};
  if (op == "max") {
    cases.push_back(subnormal(call, limit));
  }
  return cases;
}

}  // namespace reprise::testing
