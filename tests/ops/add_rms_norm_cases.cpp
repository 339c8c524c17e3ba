#include "reprise/ops/add_rms_norm.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr double kLimit = 1e-11;
constexpr const char* kWhy = "f32 sums of one row";

std::vector<Tensor> both(AddRmsNormResult results) { return {results.sum, results.normalised}; }

OpCase row(std::int64_t rows, std::int64_t cols, bool weighted) {
  return {std::to_string(rows) + "x" + std::to_string(cols) + (weighted ? "_weighted" : ""), kLimit,
          kWhy, [=](CaseContext& c) {
            const Tensor x = c.input({rows, cols});
            const Tensor y = c.input({rows, cols});
            return both(weighted ? add_rms_norm(c.recorder(), x, y, c.input({cols}), {.eps = 1e-6F})
                                 : add_rms_norm(c.recorder(), x, y, {}));
          }};
}

OpCase strided() {
  return {"strided_rows", kLimit, kWhy, [](CaseContext& c) {
            Recorder& r = c.recorder();
            const Tensor x = permute(r, c.input({3, 5, 17}), {1, 0, 2});
            const Tensor y = slice(r, c.input({5, 3, 20}), 2, 2, 17);
            const Tensor weight = slice(r, c.input({18}), 0, 1, 17);
            return both(add_rms_norm(r, x, y, weight));
          }};
}

OpCase operand_twice() {
  return {"operand_twice", kLimit, kWhy, [](CaseContext& c) {
            const Tensor x = c.input({4, 65});
            return both(add_rms_norm(c.recorder(), x, x, c.input({65})));
          }};
}

}  // namespace

std::vector<OpCase> add_rms_norm_cases() {
  return {row(1, 1, false),   row(3, 257, true), row(65, 64, true), row(7, 1025, false),
          row(2, 4099, true), strided(),         operand_twice()};
}

}  // namespace reprise::testing
