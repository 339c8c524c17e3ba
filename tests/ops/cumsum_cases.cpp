#include "reprise/ops/binary.h"
#include "reprise/ops/cumsum.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr double kLimit = 1e-12;
constexpr const char* kWhy = "f32 sums of one row";

OpCase row(std::int64_t rows, std::int64_t cols) {
  return {std::to_string(rows) + "x" + std::to_string(cols), kLimit, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            return {cumsum(c.recorder(), c.input({rows, cols}, DType::f32, -0.5, 1))};
          }};
}

OpCase strided() {
  return {"strided", kLimit, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
            const Tensor x = permute(c.recorder(), c.input({67, 5, 3}), {2, 1, 0});
            return {cumsum(c.recorder(), slice(c.recorder(), x, 2, 1, 65))};
          }};
}

// More than is brought together at once.
OpCase long_strided() {
  return {"long_strided", kLimit, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
            const Tensor x = permute(c.recorder(), c.input({2500, 3}, DType::f32, -0.5, 1), {1, 0});
            return {cumsum(c.recorder(), x)};
          }};
}

// What overflows is infinite from there on; times 0 it is NaN from there on.
OpCase not_finite(const std::string& name, double zero) {
  return {name, kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor large = c.input({1}, DType::f32, 3.5e36, 3.5e36);
            const Tensor x = mul(r, c.input({9, 70}, DType::f32, 0, 100), large);
            return {cumsum(r, mul(r, x, c.input({1}, DType::f32, zero, zero)))};
          }};
}

}  // namespace

std::vector<OpCase> cumsum_cases() {
  return {row(1, 1),
          row(3, 257),
          row(65, 64),
          row(2, 4099),
          row(1, 100003),
          not_finite("infinite", 1),
          not_finite("not_a_number", 0),
          strided(),
          long_strided()};
}

}  // namespace reprise::testing
