#include "reprise/ops/cumsum.h"
#include "reprise/ops/top_k.h"
#include "tests/ops/order_cases.h"

namespace reprise::testing {
namespace {

OpCase row(std::int32_t k, const Shape& shape) {
  std::string name = std::to_string(k) + "_of";
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    name += (i == 0 ? "_" : "x") + std::to_string(shape.dim(i));
  }
  return {name, 0, "indices", [=](CaseContext& c) -> std::vector<Tensor> {
            return {top_k(c.recorder(), c.input(shape), {.k = k})};
          }};
}

// Every element, or only the first ones, is among the largest so far.
OpCase ordered(const std::string& name, double low, double high) {
  return {name, 0, "indices", [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor x = cumsum(c.recorder(), c.input({2, 5000}, DType::f32, low, high));
            return {top_k(c.recorder(), x, {.k = 40})};
          }};
}

OpCase sorted() {
  return {"sorted", 0, "indices", [](CaseContext& c) -> std::vector<Tensor> {
            const Tensor x = cumsum(c.recorder(), c.input({3, 1777}, DType::f32, 0.01, 1));
            return {top_k(c.recorder(), x, {.k = 7})};
          }};
}

}  // namespace

std::vector<OpCase> top_k_cases() {
  std::vector<OpCase> cases{row(1, {1, 1}),
                            row(4, {32, 7}),
                            row(257, {257}),
                            row(3, {65, 65}),
                            row(2, {2, 3, 17}),
                            row(40, {3, 1025}),
                            row(40, {1, 32769}),
                            row(1, {2, 4097}),
                            row(513, {1, 513}),
                            sorted(),
                            row(1000, {1, 40001}),
                            row(40, {1, 152001}),
                            ordered("ascending", 0.01, 1),
                            ordered("descending", -1, -0.01)};
  for (OpCase& hard :
       order_cases("", [](Recorder&r, const Tensor&x) { return top_k(r, x, {.k = 60}); })) {
    cases.push_back(std::move(hard));
  }
  return cases;
}

}  // namespace reprise::testing
