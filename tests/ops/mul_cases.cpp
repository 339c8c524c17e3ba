#include "reprise/ops/mul.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr double kLimit = 1e-13;
constexpr const char* kWhy = "one f32 rounding per element";

OpCase row(const std::string& name, const Shape& x, const Shape& y) {
  return {name, kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            return {mul(c.recorder(), c.input(x), c.input(y))};
          }};
}

// Neither last stride is 1, and both start inside a binding.
OpCase strided() {
  return {"strided", kLimit, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
            const Tensor x = permute(c.recorder(), c.input({9, 4, 65}), {2, 1, 0});
            const Tensor y = permute(c.recorder(), c.input({3, 5}), {1, 0});
            return {mul(c.recorder(), slice(c.recorder(), x, 1, 1, 2),
                        slice(c.recorder(), y, 0, 2, 1))};
          }};
}

OpCase itself() {
  return {"with_itself", kLimit, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
            const Tensor x = c.input({3, 257});
            return {mul(c.recorder(), x, x)};
          }};
}

}  // namespace

std::vector<OpCase> mul_cases() {
  return {row("1x1", {1, 1}, {1, 1}),
          row("same", {2, 7, 65}, {2, 7, 65}),
          row("large", {65, 1031}, {65, 1031}),
          row("row", {2, 7, 257}, {257}),
          row("column", {2, 7, 65}, {7, 1}),
          row("tile", {2, 6, 10, 12}, {3, 5, 6}),
          row("scalar", {2, 7, 65}, {1}),
          row("higher_rank", {65}, {1, 1, 65}),
          strided(),
          itself()};
}

}  // namespace reprise::testing
