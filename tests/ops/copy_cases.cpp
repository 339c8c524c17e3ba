#include "reprise/ops/copy.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr const char* kWhy = "moves bits, or rounds to f16 in one defined way";

OpCase plain(const Shape& shape, DType dtype) {
  return {std::string(name_of(dtype)) + "_" + std::to_string(shape.elements()), 0, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            return {copy(c.recorder(), c.input(shape, dtype))};
          }};
}

OpCase integers() {
  return {"i32", 0, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
            const Tensor x = c.integers({2, 3}, {-2147483647 - 1, -1, 0, 1, 2147483647, 7});
            return {copy(c.recorder(), permute(c.recorder(), x, {1, 0}))};
          }};
}

// The last stride is not 1, and an offset that no binding can have.
OpCase permuted(DType from, DType to) {
  return {"permuted_" + std::string(name_of(from)) + "_" + std::string(name_of(to)), 0, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor x = slice(c.recorder(), c.input({3, 5, 7, 65}, from), 2, 1, 5);
            return {cast(c.recorder(), permute(c.recorder(), x, {3, 0, 2, 1}), to)};
          }};
}

// Every range of f16: subnormals, halves of the smallest, overflow.
OpCase rounded(const std::string& name, double range) {
  return {name, 0, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            return {cast(c.recorder(), c.input({257, 65}, DType::f32, -range, range), DType::f16)};
          }};
}

OpCase widened() {
  return {"subnormal_f16_f32", 0, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
            const Tensor x = c.input({65, 7}, DType::f16, -1e-4, 1e-4);
            return {cast(c.recorder(), slice(c.recorder(), x, 1, 2, 3), DType::f32)};
          }};
}

}  // namespace

std::vector<OpCase> copy_cases() {
  return {plain({1}, DType::f32),
          plain({3, 257}, DType::f32),
          plain({65, 7}, DType::f16),
          integers(),
          permuted(DType::f32, DType::f32),
          permuted(DType::f16, DType::f16),
          permuted(DType::f32, DType::f16),
          permuted(DType::f16, DType::f32),
          rounded("f16_normal", 1),
          rounded("f16_subnormal", 1e-4),
          rounded("f16_smallest", 1e-7),
          rounded("f16_overflow", 1e5),
          widened()};
}

}  // namespace reprise::testing
