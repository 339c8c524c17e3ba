#include "reprise/ops/binary.h"
#include "reprise/ops/l2_norm.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr double kLimit = 1e-11;
constexpr const char* kWhy = "f32 sums of one row";

OpCase row(std::int64_t rows, std::int64_t cols) {
  return {std::to_string(rows) + "x" + std::to_string(cols), kLimit, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            return {l2_norm(c.recorder(), c.input({rows, cols}))};
          }};
}

// Lengths around 0.6, some of them below eps.
OpCase short_rows() {
  return {"shorter_than_eps", kLimit, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
            return {l2_norm(c.recorder(), c.input({19, 12}, DType::f32, -0.3, 0.3), {.eps = 0.6F})};
          }};
}

OpCase strided() {
  return {"strided_rows", kLimit, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
            const Tensor x = permute(c.recorder(), c.input({3, 5, 17}), {1, 0, 2});
            return {l2_norm(c.recorder(), x)};
          }};
}

// Infinite elements, or NaN, of some rows.
OpCase not_finite(const std::string& name, std::int64_t cols, double zero) {
  return {name, kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor factor = c.input({1}, DType::f32, 3.4e38, 3.4e38);
            const Tensor x = mul(r, c.input({9, cols}, DType::f32, -1.02, 0), factor);
            return {l2_norm(r, mul(r, x, c.input({1}, DType::f32, zero, zero)))};
          }};
}

}  // namespace

std::vector<OpCase> l2_norm_cases() {
  return {row(1, 1),
          row(3, 257),
          row(65, 64),
          row(7, 1025),
          row(2, 33001),
          short_rows(),
          not_finite("not_a_number_of_37", 37, 0),
          not_finite("not_a_number_of_600", 600, 0),
          strided()};
}

}  // namespace reprise::testing
