#include "reprise/ops/binary.h"
#include "reprise/ops/causal_mask.h"
#include "reprise/ops/layer_norm.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr double kLimit = 1e-11;
constexpr const char* kWhy = "f32 sums of one row";

OpCase row(std::int64_t rows, std::int64_t cols) {
  return {std::to_string(rows) + "x" + std::to_string(cols), kLimit, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            return {layer_norm(c.recorder(), c.input({rows, cols}))};
          }};
}

OpCase affine(const std::string& name, std::int64_t rows, std::int64_t cols, bool weight,
              bool bias) {
  return {name, kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor x = c.input({rows, cols});
            const Tensor w = weight ? c.input({cols}) : Tensor();
            const Tensor b = bias ? c.input({cols}) : Tensor();
            return {layer_norm(c.recorder(), x, w, b, {.eps = 1e-6F})};
          }};
}

OpCase far_from_zero() {
  return {"far_from_zero", 1e-9, "distances from a mean of 100 keep 17 bits",
          [](CaseContext& c) -> std::vector<Tensor> {
            return {layer_norm(c.recorder(), c.input({5, 300}, DType::f32, 99, 101))};
          }};
}

OpCase strided() {
  return {"strided_rows", kLimit, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor x = permute(r, c.input({3, 5, 17}), {1, 0, 2});
            const Tensor weight = slice(r, c.input({18}), 0, 1, 17);
            return {layer_norm(r, x, weight, slice(r, c.input({20}), 0, 3, 17))};
          }};
}

// The first 4 of 9 rows end in -infinity; of the second result some have NaN, from what overflows.
OpCase not_finite(std::int64_t cols) {
  return {"not_finite_of_" + std::to_string(cols), kLimit, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor x = c.input({9, cols});
            const auto n_past = static_cast<std::int32_t>(cols - 5);
            const Tensor large = mul(r, c.input({9, cols}, DType::f32, -1.02, 1),
                                     c.input({1}, DType::f32, 3.4e38, 3.4e38));
            const Tensor none = mul(r, large, c.input({1}, DType::f32, 0, 0));
            return {layer_norm(r, causal_mask(r, x, {.n_past = n_past})),
                    layer_norm(r, add(r, none, x))};
          }};
}

}  // namespace

std::vector<OpCase> layer_norm_cases() {
  return {row(1, 1),
          row(7, 1025),
          row(65, 64),
          row(2, 33001),
          affine("3x257_weight_bias", 3, 257, true, true),
          affine("2x4099_weight", 2, 4099, true, false),
          affine("9x31_bias", 9, 31, false, true),
          far_from_zero(),
          not_finite(37),
          not_finite(600),
          strided()};
}

}  // namespace reprise::testing
