#include "reprise/ops/set_rows.h"
#include "reprise/ops/solve_triangular.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr double kLimit = 1e-11;
constexpr const char* kWhy = "f32 sums; errors of a row reach those after it";

/// [matrices, n, n] with numbers from 1 to 2 on the diagonals, and small ones elsewhere: errors do
/// not grow.
Tensor well_conditioned(CaseContext& c, std::int64_t matrices, std::int64_t n) {
  Recorder& r = c.recorder();
  const Tensor elements = c.persistent({matrices * n * n, 1}, DType::f32);
  const double small = 1.0 / static_cast<double>(n);
  set_rows(r, elements, c.input({matrices * n * n, 1}, DType::f32, -small, small), {.position = 0});
  std::vector<std::int32_t> diagonal;
  for (std::int64_t i = 0; i < matrices * n; ++i) {
    diagonal.push_back(static_cast<std::int32_t>(i * n + i % n));
  }
  set_rows(r, elements, c.input({matrices * n, 1}, DType::f32, 1, 2),
           c.integers({matrices * n}, diagonal));
  return reshape(r, elements, {matrices, n, n});
}

OpCase batch(std::int64_t matrices, std::int64_t n, std::int64_t columns, bool unit) {
  return {std::to_string(matrices) + "x" + std::to_string(n) + "x" + std::to_string(columns) +
              (unit ? "_unit" : ""),
          kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            return {solve_triangular(c.recorder(), well_conditioned(c, matrices, n),
                                     c.input({matrices, n, columns}), {.unit = unit})};
          }};
}

// A matrix in a larger one, turned: what is above the diagonal is not read.
OpCase strided() {
  return {"strided", kLimit, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor all = reshape(r, well_conditioned(c, 1, 40), {40, 40});
            const Tensor a = slice(r, slice(r, permute(r, all, {1, 0}), 0, 3, 33), 1, 3, 33);
            const Tensor b = permute(r, slice(r, c.input({7, 50}), 1, 9, 33), {1, 0});
            return {solve_triangular(r, a, b), solve_triangular(r, a, b, {.unit = true})};
          }};
}

}  // namespace

std::vector<OpCase> solve_triangular_cases() {
  return {batch(1, 1, 1, false),  batch(1, 1, 3, true),    batch(5, 7, 13, false),
          batch(3, 64, 65, true), batch(2, 129, 8, false), strided()};
}

}  // namespace reprise::testing
