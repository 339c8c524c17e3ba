#include "reprise/ops/matmul_experts.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr double kLimit = 1e-11;
constexpr const char* kWhy = "f32 sums of k products";

struct Sizes {
  std::int64_t rows, used, experts, m, k;
};

std::string label(const std::string& beginning, const Sizes& s, DType weights) {
  return beginning + std::to_string(s.rows) + "x" + std::to_string(s.used) + "_of_" +
         std::to_string(s.experts) + "x" + std::to_string(s.m) + "x" + std::to_string(s.k) + "_" +
         std::string(name_of(weights));
}

// Experts of a row differ where there are enough of them.
OpCase picked(const Sizes& s, DType weights) {
  return {label("", s, weights), kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            return {matmul_experts(c.recorder(), c.input({s.rows, s.used, s.k}),
                                   c.input({s.experts, s.m, s.k}, weights),
                                   c.ids({s.rows, s.used}, DType::i32, 0, s.experts))};
          }};
}

// One row of x for all experts of a row; one of the tables is a part of a larger one.
OpCase shared(const Sizes& s, DType weights) {
  return {label("shared_", s, weights), kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor w = c.input({s.experts + 2, s.m, s.k}, weights);
            return {matmul_experts(r, c.input({s.rows, 1, s.k}), slice(r, w, 0, 1, s.experts),
                                   c.ids({s.rows, s.used}, DType::i32, 0, s.experts))};
          }};
}

// Cells in any order, some of them nowhere, ids on both sides of the table; with and without rows
// for those that are missing.
OpCase placed(const Sizes& s, DType weights) {
  return {label("placed_", s, weights), kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor x = c.input({s.rows, s.used, s.k});
            const Tensor w = c.input({s.experts / 2 + 1, s.m, s.k}, weights);
            const Tensor ids = c.ids({s.rows, s.used}, DType::i32, -1, s.experts + 1);
            const Tensor cells =
                slice(r, c.ids({s.experts + 1}, DType::i32, -2, s.experts), 0, 1, s.experts);
            const Tensor missing = slice(r, c.input({s.rows + 1, s.used, s.m}), 0, 1, s.rows);
            return {matmul_experts(r, x, w, ids, cells, missing),
                    matmul_experts(r, x, w, ids, cells), matmul_experts(r, x, w, ids, {}, missing)};
          }};
}

OpCase all_missing(DType weights) {
  return {"all_missing_" + std::string(name_of(weights)), 0, "moves bits",
          [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor x = c.input({5, 3, 64});
            const Tensor w = c.input({2, 37, 64}, weights);
            const Tensor ids = c.ids({5, 3}, DType::i32, 0, 8);
            const Tensor cells = c.integers({8}, {-1, 2, -2147483647, 2147483647, 3, -7, 100, -1});
            return {matmul_experts(r, x, w, ids, cells, c.input({5, 3, 37})),
                    matmul_experts(r, x, w, ids, cells)};
          }};
}

// Ids of a row that are equal, and of all rows.
OpCase alike(DType weights) {
  return {"one_expert_" + std::string(name_of(weights)), kLimit, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor ids = c.integers({9, 2}, std::vector<std::int32_t>(18, 2));
            return {matmul_experts(c.recorder(), c.input({9, 2, 96}), c.input({4, 19, 96}, weights),
                                   ids)};
          }};
}

// Rows of x and of w that lie apart.
OpCase strided(DType weights, std::int64_t k, std::int64_t first) {
  return {"strided_" + std::to_string(k) + "_from_" + std::to_string(first) + "_" +
              std::string(name_of(weights)),
          kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor x = permute(r, c.input({2, 7, k}), {1, 0, 2});
            const Tensor w = permute(r, c.input({19, 5, k}, weights), {1, 0, 2});
            const Tensor columns = slice(r, c.input({5, 9, k + 16}, weights), 2, first, k);
            const Tensor part = slice(r, c.input({7, 1, k + 16}), 2, first, k);
            const Tensor ids = c.ids({7, 2}, DType::i32, 0, 5);
            return {matmul_experts(r, x, w, ids), matmul_experts(r, part, columns, ids)};
          }};
}

}  // namespace

std::vector<OpCase> matmul_experts_cases() {
  std::vector<OpCase> cases;
  for (const DType weights : {DType::f32, DType::f16, DType::bf16, DType::q8_0, DType::q4_0}) {
    const bool blocks = info_of(weights).block_elements > 1;
    cases.push_back(picked({1, 8, 128, 33, 64}, weights));
    cases.push_back(picked({1, 1, 1, 64, blocks ? 32 : 1}, weights));
    cases.push_back(picked({65, 2, 8, 17, blocks ? 96 : 67}, weights));
    cases.push_back(picked({3, 2, 60, 129, blocks ? 1056 : 1025}, weights));
    cases.push_back(picked({2, 1, 3, 4097, 32}, weights));
    cases.push_back(shared({1, 8, 60, 65, 288}, weights));
    cases.push_back(shared({33, 2, 8, 31, blocks ? 64 : 40}, weights));
    cases.push_back(placed({7, 2, 8, 33, 64}, weights));
    cases.push_back(placed({1, 8, 128, 17, blocks ? 160 : 35}, weights));
    cases.push_back(all_missing(weights));
    cases.push_back(alike(weights));
  }
  for (const DType weights :
       {DType::q4_1, DType::q5_0, DType::q5_1, DType::q4_k, DType::q5_k, DType::q6_k, DType::q2_k,
        DType::q3_k, DType::iq4_nl, DType::iq4_xs}) {
    const std::int64_t block = info_of(weights).block_elements;
    cases.push_back(picked({3, 2, 8, 33, 3 * block}, weights));
    cases.push_back(shared({1, 8, 60, 17, block}, weights));
    cases.push_back(placed({17, 2, 8, 9, 2 * block}, weights));
  }
  for (const DType weights : {DType::f32, DType::f16, DType::bf16}) {
    cases.push_back(strided(weights, 31, 3));
    cases.push_back(strided(weights, 40, 8));
    cases.push_back(strided(weights, 40, 3));
  }
  return cases;
}

}  // namespace reprise::testing
