#include "reprise/ops/attention.h"
#include "reprise/ops/binary.h"
#include "reprise/ops/copy.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr double kLimit = 1e-11;
constexpr const char* kWhy = "f32 scores, weights and sums of one row";

struct Sizes {
  std::int64_t rows, heads, kv_heads, dim, capacity;
};

OpCase plain(const Sizes& n, DType cache, std::int32_t kv_len, bool causal) {
  return {std::to_string(n.rows) + "x" + std::to_string(n.heads) + "x" + std::to_string(n.dim) +
              "_of_" + std::to_string(kv_len) + (causal ? "_causal_" : "_") +
              std::string(name_of(cache)),
          kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor k = c.input({n.capacity, n.kv_heads, n.dim}, cache);
            const Tensor v = c.input({n.capacity, n.kv_heads, n.dim}, cache);
            return {attention(c.recorder(), c.input({n.rows, n.heads, n.dim}, DType::f32, -4, 4), k,
                              v, {.kv_len = kv_len, .causal = causal})};
          }};
}

OpCase masked(DType cache, DType mask_type) {
  return {"masked_" + std::string(name_of(cache)) + "_" + std::string(name_of(mask_type)), kLimit,
          kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor q = permute(r, c.input({4, 7, 40}), {1, 0, 2});
            const Tensor k = permute(r, c.input({2, 33, 40}, cache), {1, 0, 2});
            const Tensor v = slice(r, c.input({33, 2, 28}, cache), 2, 4, 23);
            const Tensor mask = slice(r, c.input({9, 33}, mask_type, -6, 6), 0, 1, 7);
            return {attention(r, q, k, v, {.scale = 0.3F, .causal = false, .mask = &mask}),
                    attention(r, q, k, v, {.kv_len = 30, .mask = &mask})};
          }};
}

// As caches lie in memory: heads of a row, rows of a larger tensor.
OpCase strided(DType cache) {
  return {"strided_" + std::string(name_of(cache)), kLimit, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor q = permute(r, c.input({4, 7, 40}), {1, 0, 2});
            const Tensor k = permute(r, c.input({2, 33, 40}, cache), {1, 0, 2});
            const Tensor v = slice(r, c.input({33, 2, 28}, cache), 2, 4, 23);
            return {attention(r, q, k, v, {.kv_len = 31}),
                    attention(r, q, k, v, {.scale = 0.3F, .causal = false})};
          }};
}

// Keys that a row may not see, in no order; some rows see none.
OpCase hidden(const std::string& name, std::int64_t rows, std::int64_t keys, double low,
              DType cache, DType mask_type) {
  return {name + "_" + std::string(name_of(cache)) + "_" + std::string(name_of(mask_type)), kLimit,
          kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            // Below -65520 it is -infinity in half precision, and stays so.
            const Tensor large = cast(r, c.input({rows, keys}, DType::f16, low, 65000), DType::f32);
            const Tensor mask =
                cast(r, mul(r, large, c.input({1}, DType::f32, 1e-4, 1e-4)), mask_type);
            return {attention(r, c.input({rows, 2, 32}), c.input({keys, 2, 32}, cache),
                              c.input({keys, 2, 32}, cache), {.causal = false, .mask = &mask})};
          }};
}

OpCase state(DType cache) {
  return {"length_from_state_" + std::string(name_of(cache)),
          kLimit,
          kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor k = c.input({64, 2, 64}, cache);
            const Tensor v = c.input({64, 2, 64}, cache);
            return {attention(r, c.input({1, 8, 64}), k, v, {.kv_len = r.state("kv_len")})};
          },
          {{"kv_len", {0, 1, 37, 64, 1000}}}};
}

}  // namespace

std::vector<OpCase> attention_cases() {
  std::vector<OpCase> cases;
  for (const DType cache : {DType::f32, DType::f16}) {
    cases.push_back(plain({1, 1, 1, 1, 1}, cache, 1, true));
    cases.push_back(strided(cache));
    cases.push_back(plain({1, 8, 2, 64, 300}, cache, 257, true));
    cases.push_back(plain({33, 3, 1, 80, 40}, cache, 33, true));
    cases.push_back(plain({5, 4, 4, 7, 19}, cache, 3, true));  // two rows see no key
    cases.push_back(plain({3, 2, 1, 256, 65}, cache, 65, false));
    cases.push_back(plain({1, 4, 2, 8, 1100}, cache, 1025, true));
    cases.push_back(plain({6, 2, 1, 64, 300}, cache, 291, true));
    cases.push_back(plain({4, 1, 1, 12, 70}, cache, 65, true));
    cases.push_back(plain({2, 2, 1, 520, 9}, cache, 9, true));
    cases.push_back(hidden("some_hidden", 37, 2, -131000, cache, DType::f16));
    cases.push_back(hidden("most_hidden", 7, 521, -1e7, cache, DType::f32));
    cases.push_back(hidden("most_hidden", 1, 700, -1e7, cache, DType::f16));
    cases.push_back(masked(cache, DType::f32));
    cases.push_back(masked(cache, DType::f16));
    cases.push_back(state(cache));
  }
  return cases;
}

}  // namespace reprise::testing
