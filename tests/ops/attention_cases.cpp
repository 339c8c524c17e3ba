#include "reprise/ops/attention.h"
#include "reprise/ops/binary.h"
#include "reprise/ops/copy.h"
#include "reprise/ops/set_rows.h"
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
            return {attention(r, q, k, v, {.scale = 0.3F, .causal = false, .mask = mask}),
                    attention(r, q, k, v, {.kv_len = 30, .mask = mask})};
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
                              c.input({keys, 2, 32}, cache), {.causal = false, .mask = mask})};
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

// Keys before those of the rows: none of a field, some, more than there is room for, less than
// none.
OpCase past_in_state(DType cache) {
  return {"past_from_state_" + std::string(name_of(cache)),
          kLimit,
          kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor q = c.input({5, 4, 32});
            const Tensor k = c.input({64, 2, 32}, cache);
            const Tensor v = c.input({64, 2, 32}, cache);
            return {attention(r, q, k, v, {.past = r.state("pos")}),
                    attention(r, q, k, v, {.past = r.state("pos"), .causal = false})};
          },
          {{"pos", {0, 1, 37, 59, 60, 1000, -3, -5, 2147483647, -2147483647}}}};
}

OpCase past(DType cache) {
  return {"past_" + std::string(name_of(cache)), kLimit, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            return {attention(c.recorder(), c.input({5, 4, 32}), c.input({64, 2, 32}, cache),
                              c.input({64, 2, 32}, cache), {.past = 17})};
          }};
}

enum class Mask { none, f32, f16 };

// What is added to scores, by the attributes that `set` sets; rows with and without a mask.
OpCase with(const std::string& name, const Sizes& n, DType cache, Mask mask_type,
            const std::function<void(AttentionAttributes&)>& set, bool sinks = false,
            double limit = kLimit) {
  return {name + "_" + std::string(name_of(cache)), limit, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor q = c.input({n.rows, n.heads, n.dim}, DType::f32, -4, 4);
            const Tensor k = c.input({n.capacity, n.kv_heads, n.dim}, cache);
            const Tensor v = c.input({n.capacity, n.kv_heads, n.dim}, cache);
            // From a place that no kernel likes.
            const Tensor scores =
                slice(r, c.input({n.heads + 3}, DType::f32, -3, 5), 0, 3, n.heads);
            AttentionAttributes a{.sinks = sinks ? scores : Tensor()};
            set(a);
            if (mask_type == Mask::none) {
              return {attention(r, q, k, v, a)};
            }
            const Tensor mask = c.input({n.rows, n.capacity},
                                        mask_type == Mask::f16 ? DType::f16 : DType::f32, -6, 0);
            a.mask = mask;
            return {attention(r, q, k, v, a)};
          }};
}

OpCase window_in_state(DType cache) {
  return {"window_from_state_" + std::string(name_of(cache)),
          kLimit,
          kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            return {attention(r, c.input({5, 4, 32}), c.input({64, 2, 32}, cache),
                              c.input({64, 2, 32}, cache),
                              {.kv_len = 61, .window = r.state("window")})};
          },
          {{"window", {0, 1, 4, 17, 60, 100, -3, 2147483647}}}};
}

// Keys that are NaN or infinite reach the rows that see them, and no other.
OpCase not_numbers(std::int64_t rows, DType cache) {
  return {"not_numbers_in_" + std::to_string(rows) + "_" + std::string(name_of(cache)), kLimit,
          kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor q = c.input({rows, 2, 32}, DType::f32, 0.5, 1);
            const Tensor keys = c.input({rows, 1, 32});
            const Tensor large = c.input({rows, 1, 32}, DType::f32, 1e38, 3e38);
            const Tensor infinite = mul(r, large, large);
            const Tensor none = mul(r, infinite, c.input({1}, DType::f32, 0, 0));
            const Tensor v = c.input({rows + 2, 1, 32}, cache);
            std::vector<Tensor> results;
            for (const Tensor& odd : {infinite, none}) {
              const Tensor k = c.persistent({rows + 2, 1, 32}, cache);
              set_rows(r, k, keys, {.position = 0});
              set_rows(r, k, slice(r, odd, 0, 0, 1), {.position = 7});
              results.push_back(attention(r, q, k, v, {.softcap = 4, .window = 3}));
              results.push_back(attention(r, q, k, v, {.kv_len = static_cast<std::int32_t>(rows)}));
              results.push_back(attention(r, q, v, k, {.kv_len = static_cast<std::int32_t>(rows)}));
            }
            return results;
          }};
}

void add_scored(std::vector<OpCase>& cases, DType cache) {
  using A = AttentionAttributes;
  const auto add = [&](const char* name, const Sizes& n, Mask mask,
                       const std::function<void(A&)>& set, bool sinks = false) {
    cases.push_back(with(name, n, cache, mask, set, sinks));
  };
  add("softcap", {3, 4, 2, 64, 70}, Mask::none, [](A& a) { a.softcap = 2; });
  add("softcap_masked", {5, 2, 1, 32, 300}, Mask::f16, [](A& a) {
    a.softcap = 50;
    a.causal = false;
  });
  add("alibi", {6, 6, 3, 32, 130}, Mask::none, [](A& a) { a.max_bias = 8; });
  add("alibi_masked", {2, 12, 4, 32, 66}, Mask::f32, [](A& a) { a.max_bias = 4; });
  add("alibi_of_no_slope", {2, 4, 2, 32, 66}, Mask::f32, [](A& a) { a.max_bias = 1e6F; });
  add("alibi_after_the_row", {3, 5, 1, 32, 40}, Mask::none, [](A& a) {
    a.max_bias = 3;
    a.causal = false;
    a.kv_len = 33;
  });
  add("window", {33, 2, 1, 64, 80}, Mask::none, [](A& a) { a.window = 7; });
  add("window_of_one", {1, 8, 2, 32, 300}, Mask::none, [](A& a) { a.window = 1; });
  add("window_far_along", {6, 2, 2, 32, 1030}, Mask::none, [](A& a) { a.window = 260; });
  add("window_of_many_rows", {70, 2, 1, 64, 300}, Mask::none, [](A& a) { a.window = 9; });
  add("window_masked", {7, 2, 2, 32, 65}, Mask::f16, [](A& a) {
    a.window = 5;
    a.causal = false;
  });
  add(
      "sinks", {5, 4, 4, 32, 19}, Mask::none, [](A& a) { a.kv_len = 3; }, true);
  add(
      "sinks_masked", {1, 4, 2, 64, 300}, Mask::f32, [](A&) {}, true);
  const auto all = [](A& a) {
    a.softcap = 5;
    a.max_bias = 8;
    a.window = 280;
    a.kv_len = 288;
  };
  add("all", {6, 6, 2, 96, 290}, Mask::f16, all, true);
  add("all_of_many_rows", {53, 6, 2, 96, 290}, Mask::f16, all, true);
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
    cases.push_back(not_numbers(9, cache));
    cases.push_back(not_numbers(29, cache));
    cases.push_back(plain({61, 3, 1, 80, 530}, cache, 525, true));
    cases.push_back(plain({64, 1, 1, 44, 300}, cache, 300, false));
    cases.push_back(plain({40, 2, 2, 20, 60}, cache, 13, true));  // most rows see no key
    cases.push_back(plain({40, 2, 1, 8, 5900}, cache, 45, true));
    cases.push_back(hidden("most_hidden", 50, 300, -1e7, cache, DType::f16));
  }
  for (const DType cache : {DType::f32, DType::f16, DType::q8_0}) {
    add_scored(cases, cache);
    cases.push_back(window_in_state(cache));
    cases.push_back(past_in_state(cache));
    cases.push_back(past(cache));
  }
  cases.push_back(plain({1, 1, 1, 32, 1}, DType::q8_0, 1, true));
  cases.push_back(plain({1, 8, 2, 64, 300}, DType::q8_0, 257, true));
  cases.push_back(plain({33, 3, 1, 96, 40}, DType::q8_0, 33, true));
  cases.push_back(plain({61, 3, 1, 96, 330}, DType::q8_0, 325, true));
  cases.push_back(plain({2, 2, 1, 544, 9}, DType::q8_0, 9, true));
  cases.push_back(plain({6, 2, 1, 160, 70}, DType::q8_0, 65, false));
  cases.push_back(hidden("most_hidden", 7, 521, -1e7, DType::q8_0, DType::f16));
  return cases;
}

}  // namespace reprise::testing
