#include "reprise/ops/matmul.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr double kLimit = 1e-11;
constexpr const char* kWhy = "f32 sums of k products";

constexpr DType kFurtherBlocks[] = {DType::q4_1,   DType::q5_0,  DType::q5_1, DType::q4_k,
                                    DType::q5_k,   DType::q6_k,  DType::q2_k, DType::q3_k,
                                    DType::iq4_nl, DType::iq4_xs};

OpCase product(std::int64_t n, std::int64_t m, std::int64_t k, DType weights) {
  return {std::to_string(n) + "x" + std::to_string(m) + "x" + std::to_string(k) + "_" +
              std::string(name_of(weights)),
          kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            return {matmul(c.recorder(), c.input({n, k}), c.input({m, k}, weights))};
          }};
}

OpCase long_rows(DType weights) {
  OpCase row = product(2, 33, 16416, weights);
  row.nmse_limit = 5e-11;
  row.why = "four f32 sums of 4104 products";
  return row;
}

OpCase vector(DType weights) {
  return {"vector_" + std::string(name_of(weights)), kLimit, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            return {matmul(c.recorder(), c.input({129}), c.input({65, 129}, weights))};
          }};
}

OpCase heads(DType weights, std::int64_t k) {
  return {"heads_share_weights_" + std::string(name_of(weights)), kLimit, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            return {matmul(c.recorder(), c.input({4, 6, 5, k}), c.input({2, 3, 17, k}, weights)),
                    matmul(c.recorder(), c.input({6, 5, k}), c.input({17, k}, weights))};
          }};
}

// Rows of k columns, in one product the last of k + 16 from column `first` on.
OpCase strided(DType weights, std::int64_t k, std::int64_t first) {
  return {"strided_" + std::to_string(k) + "_from_" + std::to_string(first) + "_" +
              std::string(name_of(weights)),
          kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor x = permute(r, c.input({7, 4, k}), {1, 0, 2});
            const Tensor w = permute(r, c.input({19, 2, k}, weights), {1, 0, 2});
            const Tensor part = slice(r, c.input({9, k}, weights), 0, 3, 5);
            const Tensor columns = slice(r, c.input({9, k + 16}, weights), 1, first, k);
            return {matmul(r, x, w), matmul(r, slice(r, c.input({6, k + 16}), 1, first, k), part),
                    matmul(r, slice(r, c.input({1, k + 16}), 1, first, k), columns)};
          }};
}

// Many of them, because the products of one may nearly cancel.
OpCase single_columns(DType weights) {
  return {"1x1x32_" + std::string(name_of(weights)), kLimit, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            return {matmul(c.recorder(), c.input({8, 8, 1, 32}), c.input({1, 32}, weights))};
          }};
}

// Rows of odd numbers of blocks, from a row on.
OpCase parts_of_blocks(DType weights, std::int64_t k) {
  return {"parts_" + std::string(name_of(weights)), kLimit, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor x = permute(r, c.input({7, 4, k}), {1, 0, 2});
            const Tensor w = slice(r, c.input({9, k}, weights), 0, 3, 5);
            return {matmul(r, x, w), matmul(r, x, reshape(r, w, {1, 5, k}))};
          }};
}

// Kernels may differ between the two.
OpCase alone() {
  return {"row_alone_and_in_a_batch", kLimit, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor x = c.input({9, 131});
            const Tensor w = c.input({37, 131}, DType::f16);
            return {matmul(r, x, w), matmul(r, slice(r, x, 0, 8, 1), w)};
          }};
}

// Enough products that kernels choose their largest tiles; `k` ends inside one.
OpCase batch(std::int64_t n, std::int64_t k, DType weights) {
  return {"batch_of_" + std::to_string(n) + "x" + std::to_string(k) + "_" +
              std::string(name_of(weights)),
          kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            return {matmul(c.recorder(), c.input({16, 16, n, k}), c.input({2, 5, k}, weights))};
          }};
}

// One row, a few and many: kernels differ. In the last one matrices share weights.
OpCase residual(DType weights) {
  const std::int64_t k = info_of(weights).block_elements > 32 ? 1280 : 1056;
  const std::int64_t short_k = info_of(weights).block_elements > 32 ? 256 : 96;
  return {
      "residual_" + std::string(name_of(weights)), kLimit, kWhy,
      [=](CaseContext& c) -> std::vector<Tensor> {
        Recorder& r = c.recorder();
        std::vector<Tensor> results;
        for (const std::int64_t n : {1, 3, 8, 37}) {
          const Tensor rest = slice(r, c.input({n + 1, 65}), 0, 1, n);
          results.push_back(matmul(r, c.input({n, k}), c.input({65, k}, weights), rest));
        }
        results.push_back(matmul(r, c.input({4, 6, 5, short_k}),
                                 c.input({2, 3, 17, short_k}, weights), c.input({4, 6, 5, 17})));
        return results;
      }};
}

// A row that is added to every row, in the same ways.
OpCase bias(DType weights) {
  return {"bias_" + std::string(name_of(weights)), kLimit, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            std::vector<Tensor> results;
            for (const std::int64_t n : {1, 3, 8, 37}) {
              const Tensor row = slice(r, c.input({67}), 0, 2, 65);
              results.push_back(matmul(r, c.input({n, 1056}), c.input({65, 1056}, weights), row));
            }
            results.push_back(matmul(r, c.input({4, 6, 5, 96}), c.input({2, 3, 17, 96}, weights),
                                     c.input({1, 17})));
            results.push_back(matmul(r, c.input({96}), c.input({5, 96}, weights), c.input({1, 5})));
            return results;
          }};
}

}  // namespace

std::vector<OpCase> matmul_cases() {
  std::vector<OpCase> cases{alone()};
  for (const DType weights : {DType::f32, DType::f16, DType::bf16, DType::q8_0, DType::q4_0}) {
    const bool blocks = info_of(weights).block_elements > 1;
    cases.push_back(product(2, 16385, 32, weights));
    cases.push_back(product(8, 16385, 32, weights));
    cases.push_back(long_rows(weights));
    cases.push_back(product(9, 63, blocks ? 64 : 72, weights));
    cases.push_back(product(17, 130, blocks ? 160 : 40, weights));
    cases.push_back(batch(32, 96, weights));
    cases.push_back(residual(weights));
    cases.push_back(bias(weights));
    cases.push_back(batch(65, blocks ? 96 : 35, weights));
  }
  for (const DType weights : kFurtherBlocks) {
    const std::int64_t block = info_of(weights).block_elements;
    cases.push_back(product(1, 257, 2 * block, weights));
    cases.push_back(product(3, 65, 3 * block, weights));
    cases.push_back(product(17, 71, 5 * block, weights));
    cases.push_back(product(65, 33, block, weights));
    cases.push_back(heads(weights, 3 * block));
    cases.push_back(parts_of_blocks(weights, 3 * block));
    cases.push_back(residual(weights));
  }
  for (const DType weights : {DType::q8_0, DType::q4_0}) {
    cases.push_back(single_columns(weights));
    cases.push_back(product(1, 257, 512, weights));
    cases.push_back(product(3, 65, 96, weights));
    cases.push_back(product(5, 64, 1056, weights));
    cases.push_back(product(65, 40, 64, weights));
    cases.push_back(product(1, 71, 288, weights));
    cases.push_back(product(17, 71, 288, weights));
    cases.push_back(product(2, 9, 32, weights));
    cases.push_back(heads(weights, 96));
    cases.push_back(parts_of_blocks(weights, 96));
  }
  for (const DType weights : {DType::f32, DType::f16, DType::bf16}) {
    cases.push_back(product(1, 1, 1, weights));
    cases.push_back(product(1, 257, 512, weights));
    cases.push_back(product(3, 65, 67, weights));
    cases.push_back(product(5, 64, 1025, weights));
    cases.push_back(product(65, 40, 64, weights));
    cases.push_back(product(1, 71, 264, weights));
    cases.push_back(product(17, 71, 264, weights));
    cases.push_back(product(2, 9, 8, weights));
    cases.push_back(vector(weights));
    cases.push_back(heads(weights, 33));
    cases.push_back(heads(weights, 40));
    cases.push_back(strided(weights, 31, 3));
    cases.push_back(strided(weights, 40, 8));
    cases.push_back(strided(weights, 40, 3));
  }
  return cases;
}

}  // namespace reprise::testing
