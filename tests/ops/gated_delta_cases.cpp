#include <algorithm>
#include <cmath>

#include "reprise/ops/gated_delta.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr double kLimit = 1e-11;
constexpr const char* kWhy = "f32 states, rounded twice per token";

struct Sizes {
  std::int64_t sequences, tokens, heads, key_heads, key_dim, value_dim;  // 0 sequences: one
};

Shape with_sequences(const Sizes& n, std::initializer_list<std::int64_t> behind) {
  std::vector<std::int64_t> dims(behind);
  dims.insert(dims.begin(), n.tokens);
  if (n.sequences > 0) {
    dims.insert(dims.begin(), n.sequences);
  }
  return Shape(dims);
}

// Keys of about length 1, as models make them: with longer ones states grow.
double unit(std::int64_t key_dim) { return 1.7 / std::sqrt(static_cast<double>(key_dim)); }

struct Inputs {
  Inputs(CaseContext& c, const Sizes& n)
      : q(c.input(with_sequences(n, {n.key_heads, n.key_dim}))),
        k(c.input(with_sequences(n, {n.key_heads, n.key_dim}), DType::f32, -unit(n.key_dim),
                  unit(n.key_dim))),
        v(c.input(with_sequences(n, {n.heads, n.value_dim}))),
        gate(c.input(with_sequences(n, {n.heads}), DType::f32, -3, 0)),
        beta(c.input(with_sequences(n, {n.heads}), DType::f32, 0, 1)) {}
  GatedDeltaInputs refs() const { return {q, k, v, gate, beta}; }
  Tensor q, k, v, gate, beta;
};

// Two calls in a row: the second one continues the first.
OpCase twice(const std::string& name, const Sizes& n, const GatedDeltaAttributes& a,
             std::size_t runs = 3) {
  return {name,
          kLimit,
          kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor state = c.persistent(
                {std::max<std::int64_t>(n.sequences, 1), n.heads, n.key_dim, n.value_dim},
                DType::f32);
            const Inputs first(c, n);
            const Inputs second(c, n);
            const Tensor y = gated_delta(c.recorder(), state, first.refs(), {}, a);
            return {y, gated_delta(c.recorder(), state, second.refs()), state};
          },
          {},
          {},
          runs};
}

// Ids inside and outside the table, and strided operands.
OpCase chosen() {
  return {"chosen_sequences", kLimit, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor whole = c.persistent({9, 4, 12, 5}, DType::f32);
            const Tensor both = c.input({6, 3, 4, 12}, DType::f32, -0.5, 0.5);
            const Tensor q = slice(r, both, 2, 0, 2);
            const Tensor k = slice(r, both, 2, 2, 2);
            const Tensor v = slice(r, c.input({6, 3, 4, 9}), 3, 3, 5);
            const Tensor gate = slice(r, c.input({6, 3, 7}, DType::f32, -3, 0), 2, 3, 4);
            const Tensor beta = slice(r, c.input({7, 3, 4}, DType::f32, 0, 1), 0, 1, 6);
            const Tensor ids = slice(r, c.ids({7}, DType::i32, -1, 8), 0, 1, 6);
            const Tensor y = gated_delta(r, slice(r, whole, 0, 1, 7), {q, k, v, gate, beta}, ids);
            return {y, whole};
          }};
}

OpCase past_in_state() {
  return {"past_from_state",
          kLimit,
          kWhy,
          [](CaseContext& c) -> std::vector<Tensor> {
            const Sizes n{0, 2, 4, 2, 16, 31};
            const Tensor state = c.persistent({1, n.heads, n.key_dim, n.value_dim}, DType::f32);
            const Inputs in(c, n);
            const Tensor y = gated_delta(c.recorder(), state, in.refs(), {},
                                         {.scale = 0.5F, .past = c.recorder().state("past")});
            return {y, state};
          },
          {{"past", {0, 1, 37, -2, 5}}}};
}

}  // namespace

std::vector<OpCase> gated_delta_cases() {
  return {twice("1", {0, 1, 1, 1, 1, 1}, {}, 30),
          twice("prompt", {0, 19, 4, 2, 64, 65}, {.past = 0}),
          twice("steps", {5, 1, 6, 3, 32, 13}, {}),
          twice("wide", {2, 3, 2, 2, 128, 128}, {.scale = 2}),
          twice("many_tokens", {0, 1200, 2, 1, 32, 3}, {}),
          chosen(),
          past_in_state()};
}

}  // namespace reprise::testing
