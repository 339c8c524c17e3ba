#include "reprise/ops/matmul_group.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr double kLimit = 1e-11;
constexpr const char* kWhy = "f32 sums of k products";

std::vector<Tensor> all(const ProductGroup& group) {
  std::vector<Tensor> results{group.y0, group.y1};
  if (group.y2) {
    results.push_back(group.y2);
  }
  return results;
}

// Rows of the weights differ, and none is a whole number of tiles.
OpCase three(std::int64_t n, std::int64_t k, DType weights) {
  return {
      "3_of_" + std::to_string(n) + "x" + std::to_string(k) + "_" + std::string(name_of(weights)),
      kLimit, kWhy, [=](CaseContext& c) {
        return all(matmul_group(c.recorder(), c.input({n, k}), c.input({131, k}, weights),
                                c.input({17, k}, weights), c.input({35, k}, weights)));
      }};
}

OpCase two(std::int64_t n, std::int64_t k, DType weights) {
  return {
      "2_of_" + std::to_string(n) + "x" + std::to_string(k) + "_" + std::string(name_of(weights)),
      kLimit, kWhy, [=](CaseContext& c) {
        return all(matmul_group(c.recorder(), c.input({n, k}), c.input({33, k}, weights),
                                c.input({70, k}, weights)));
      }};
}

// A vector, and matrices; the same weights twice.
OpCase other_ranks(DType weights) {
  return {"other_ranks_" + std::string(name_of(weights)), kLimit, kWhy, [=](CaseContext& c) {
            Recorder& r = c.recorder();
            const Tensor w = c.input({19, 64}, weights);
            std::vector<Tensor> results =
                all(matmul_group(r, c.input({64}), w, c.input({8, 64}, weights)));
            for (const Tensor& y : all(matmul_group(r, c.input({3, 5, 64}), w, w))) {
              results.push_back(y);
            }
            return results;
          }};
}

OpCase parts(DType weights) {
  return {"parts_" + std::string(name_of(weights)), kLimit, kWhy, [=](CaseContext& c) {
            Recorder& r = c.recorder();
            const Tensor w = c.input({31, 96}, weights);
            const Tensor x = slice(r, c.input({9, 100}), 1, 3, 96);
            return all(matmul_group(r, x, slice(r, w, 0, 3, 9), slice(r, w, 0, 1, 30),
                                    slice(r, w, 0, 12, 1)));
          }};
}

OpCase strided(DType weights) {
  return {"strided_" + std::string(name_of(weights)), kLimit, kWhy, [=](CaseContext& c) {
            Recorder& r = c.recorder();
            const Tensor w = c.input({9, 56}, weights);
            return all(matmul_group(r, permute(r, c.input({4, 6, 40}), {1, 0, 2}),
                                    slice(r, w, 1, 8, 40), slice(r, w, 1, 3, 40)));
          }};
}

}  // namespace

std::vector<OpCase> matmul_group_cases() {
  std::vector<OpCase> cases;
  for (const DType weights : {DType::f32, DType::f16, DType::q8_0, DType::q4_0}) {
    for (const std::int64_t n : {1, 2, 8, 9, 37}) {
      cases.push_back(three(n, 288, weights));
    }
    cases.push_back(two(1, 2080, weights));
    cases.push_back(two(17, 96, weights));
    cases.push_back(other_ranks(weights));
    cases.push_back(parts(weights));
  }
  for (const DType weights : {DType::q4_1, DType::q5_1, DType::q4_k, DType::q5_k, DType::q6_k}) {
    cases.push_back(three(1, 512, weights));
    cases.push_back(three(9, 768, weights));
  }
  for (const DType weights : {DType::f32, DType::f16, DType::bf16}) {
    cases.push_back(three(3, 67, weights));
    cases.push_back(strided(weights));
  }
  return cases;
}

}  // namespace reprise::testing
