#include "reprise/ops/silu_mul.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr double kLimit = 1e-12;
constexpr const char* kWhy = "a few f32 roundings per element";

OpCase split(const Shape& shape, double range) {
  return {"split_" + std::to_string(shape.rows()) + "x" + std::to_string(shape.back()), kLimit,
          kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor gate = c.input(shape, DType::f32, -range, range);
            return {silu_mul(c.recorder(), gate, c.input(shape))};
          }};
}

OpCase joined(const Shape& shape) {
  return {"joined_" + std::to_string(shape.rows()) + "x" + std::to_string(shape.back()), kLimit,
          kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            return {silu_mul(c.recorder(), c.input(shape, DType::f32, -8, 8))};
          }};
}

OpCase strided() {
  return {"strided_rows", kLimit, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor gate = permute(r, c.input({3, 5, 18}), {1, 0, 2});
            const Tensor up = slice(r, c.input({5, 3, 21}), 2, 2, 18);
            return {silu_mul(r, gate, up), silu_mul(r, gate)};
          }};
}

}  // namespace

std::vector<OpCase> silu_mul_cases() {
  return {split({1}, 4),          split({7, 257}, 8), split({2, 3, 65}, 200),
          split({2, 3, 68}, 200), split({4}, 8),      joined({1, 2}),
          joined({65, 130}),      joined({3, 1026}),  strided()};
}

}  // namespace reprise::testing
