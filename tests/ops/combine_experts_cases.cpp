#include "reprise/ops/combine_experts.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr double kLimit = 1e-12;
constexpr const char* kWhy = "f32 sums of few products";

OpCase sums(std::int64_t rows, std::int64_t used, std::int64_t m) {
  return {std::to_string(rows) + "x" + std::to_string(used) + "x" + std::to_string(m), kLimit, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            // Weights of one sign: sums that nearly cancel would have no digits left.
            return {combine_experts(c.recorder(), c.input({rows, used, m}, DType::f32, 0.1, 1),
                                    c.input({rows, used}, DType::f32, 0, 1))};
          }};
}

OpCase strided() {
  return {"strided", kLimit, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor turned = permute(r, c.input({3, 7, 65}, DType::f32, 0.1, 1), {1, 0, 2});
            const Tensor weights = c.input({9, 3}, DType::f32, 0, 1);
            return {combine_experts(r, turned, slice(r, weights, 0, 2, 7)),
                    combine_experts(r, slice(r, turned, 2, 3, 17), slice(r, weights, 0, 0, 7))};
          }};
}

}  // namespace

std::vector<OpCase> combine_experts_cases() {
  return {sums(1, 1, 1),  sums(1, 8, 2049), sums(5, 2, 67), sums(65, 8, 64),
          sums(3, 1, 33), sums(257, 3, 31), strided()};
}

}  // namespace reprise::testing
