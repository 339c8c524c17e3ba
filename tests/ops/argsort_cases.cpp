#include "reprise/ops/argsort.h"
#include "reprise/ops/cumsum.h"
#include "tests/ops/order_cases.h"

namespace reprise::testing {
namespace {

OpCase row(bool descending, const Shape& shape) {
  std::string name = descending ? "descending" : "ascending";
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    name += (i == 0 ? "_" : "x") + std::to_string(shape.dim(i));
  }
  return {name, 0, "indices", [=](CaseContext& c) -> std::vector<Tensor> {
            return {argsort(c.recorder(), c.input(shape), {.descending = descending})};
          }};
}

// Sorted already, one way or the other. Steps are larger than what devices round sums by.
OpCase sorted(bool descending) {
  return {descending ? "reversed" : "sorted", 0, "indices",
          [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor x = cumsum(c.recorder(), c.input({3, 777}, DType::f32, 0.01, 1));
            return {argsort(c.recorder(), x, {.descending = descending})};
          }};
}

}  // namespace

std::vector<OpCase> argsort_cases() {
  std::vector<OpCase> cases{row(false, {257}),     row(true, {65, 64}), row(false, {2, 3, 17}),
                            row(true, {1, 32769}), sorted(false),       sorted(true)};
  for (const bool descending : {false, true}) {
    for (const std::int64_t columns : {1, 2, 3, 31, 33, 1025}) {
      cases.push_back(row(descending, {4, columns}));
    }
    for (OpCase& hard :
         order_cases(descending ? "descending_" : "ascending_", [=](Recorder&r, const Tensor&x) {
           return argsort(r, x, {.descending = descending});
         })) {
      cases.push_back(std::move(hard));
    }
  }
  return cases;
}

}  // namespace reprise::testing
