#include "reprise/ops/rms_norm.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

OpCase row(std::int64_t rows, std::int64_t cols, bool weighted) {
  return {std::to_string(rows) + "x" + std::to_string(cols) + (weighted ? "_weighted" : ""), 1e-11,
          "f32 sums of one row", [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor x = c.input({rows, cols});
            return {weighted ? rms_norm(c.recorder(), x, c.input({cols}), {.eps = 1e-6F})
                             : rms_norm(c.recorder(), x, {})};
          }};
}

OpCase strided() {
  return {"strided_rows", 1e-11, "f32 sums of one row", [](CaseContext& c) -> std::vector<Tensor> {
            const Tensor x = permute(c.recorder(), c.input({3, 5, 17}), {1, 0, 2});
            const Tensor weight = slice(c.recorder(), c.input({18}), 0, 1, 17);
            return {rms_norm(c.recorder(), x, weight)};
          }};
}

}  // namespace

std::vector<OpCase> rms_norm_cases() {
  return {row(1, 1, false),   row(3, 257, true),   row(65, 64, true), row(7, 1025, false),
          row(2, 4099, true), row(2, 33001, true), strided()};
}

}  // namespace reprise::testing
