#include <algorithm>

#include "reprise/ops/gated.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr double kLimit = 1e-12;
constexpr const char* kWhy = "a few f32 roundings per element";

struct Gated {
  std::string_view name;
  Tensor (*split)(Site, TensorRef, TensorRef);
  Tensor (*joined)(Site, TensorRef);
};
constexpr Gated kOps[] = {{"gelu_mul", gelu_mul, gelu_mul},
                          {"sigmoid_mul", sigmoid_mul, sigmoid_mul},
                          {"silu_mul", silu_mul, silu_mul}};

OpCase split(const Gated& op, const Shape& shape, double range) {
  return {"split_" + std::to_string(shape.rows()) + "x" + std::to_string(shape.back()), kLimit,
          kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor gate = c.input(shape, DType::f32, -range, range);
            return {op.split(c.recorder(), gate, c.input(shape))};
          }};
}

OpCase joined(const Gated& op, const Shape& shape, double range) {
  return {"joined_" + std::to_string(shape.rows()) + "x" + std::to_string(shape.back()), kLimit,
          kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            return {op.joined(c.recorder(), c.input(shape, DType::f32, -range, range))};
          }};
}

OpCase strided(const Gated& op) {
  return {"strided_rows", kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor gate = permute(r, c.input({3, 5, 18}), {1, 0, 2});
            const Tensor up = slice(r, c.input({5, 3, 21}), 2, 2, 18);
            return {op.split(r, gate, up), op.joined(r, gate)};
          }};
}

}  // namespace

std::vector<OpCase> gated_cases(std::string_view name) {
  const Gated& op = *std::ranges::find(kOps, name, &Gated::name);
  // Of few elements all may be gates whose results are small, with the error of exp.
  return {split(op, {1}, 2),          split(op, {7, 257}, 8),   split(op, {2, 3, 65}, 200),
          split(op, {2, 3, 68}, 200), split(op, {4}, 2),        joined(op, {1, 2}, 2),
          joined(op, {65, 130}, 8),   joined(op, {3, 1026}, 8), strided(op)};
}

}  // namespace reprise::testing
