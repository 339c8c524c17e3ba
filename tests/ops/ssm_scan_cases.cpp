#include <algorithm>

#include "reprise/ops/ssm_scan.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr double kLimit = 1e-11;
constexpr const char* kWhy = "f32 states, rounded once per token";

struct Sizes {
  std::int64_t sequences, tokens, heads, head_dim, groups, state_dim;  // 0 sequences: one
  std::int64_t a_columns;
};

Shape with_sequences(const Sizes& n, std::initializer_list<std::int64_t> behind) {
  std::vector<std::int64_t> dims(behind);
  dims.insert(dims.begin(), n.tokens);
  if (n.sequences > 0) {
    dims.insert(dims.begin(), n.sequences);
  }
  return Shape(dims);
}

struct Inputs {
  Inputs(CaseContext& cases, const Sizes& n)
      : x(cases.input(with_sequences(n, {n.heads, n.head_dim}))),
        dt(cases.input(with_sequences(n, {n.heads}), DType::f32, -6, 6)),
        a(cases.input({n.heads, n.a_columns}, DType::f32, -4, -0.01)),
        b(cases.input(with_sequences(n, {n.groups, n.state_dim}))),
        c(cases.input(with_sequences(n, {n.groups, n.state_dim}))) {}
  SsmScanInputs refs() const { return {x, dt, a, b, c}; }
  Tensor x, dt, a, b, c;
};

// Two calls in a row: the second one continues the first.
OpCase twice(const std::string& name, const Sizes& n, std::int32_t past) {
  return {name, kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor state = c.persistent(
                {std::max<std::int64_t>(n.sequences, 1), n.heads, n.head_dim, n.state_dim},
                DType::f32);
            const Inputs first(c, n);
            const Inputs second(c, n);
            const Tensor y = ssm_scan(c.recorder(), state, first.refs(), {}, {.past = past});
            return {y, ssm_scan(c.recorder(), state, second.refs()), state};
          }};
}

// Ids inside and outside the table; operands as a projection leaves them, in one row.
OpCase chosen() {
  return {"chosen_sequences", kLimit, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor whole = c.persistent({9, 6, 5, 8}, DType::f32);
            const Tensor x = slice(r, c.input({4, 3, 7, 5}), 2, 1, 6);
            const Tensor dt = slice(r, c.input({4, 3, 11}, DType::f32, -3, 3), 2, 3, 6);
            const Tensor a = slice(r, c.input({7, 8}, DType::f32, -2, 0), 0, 1, 6);
            const Tensor both = c.input({4, 3, 4, 8});
            const Tensor b = slice(r, both, 2, 0, 2);
            const Tensor cs = slice(r, both, 2, 2, 2);
            const Tensor ids = slice(r, c.ids({5}, DType::i32, -1, 8), 0, 1, 4);
            const Tensor y = ssm_scan(r, slice(r, whole, 0, 1, 7), {x, dt, a, b, cs}, ids);
            return {y, whole};
          }};
}

OpCase past_in_state() {
  return {"past_from_state",
          kLimit,
          kWhy,
          [](CaseContext& c) -> std::vector<Tensor> {
            const Sizes n{0, 2, 3, 4, 1, 16, 16};
            const Tensor state = c.persistent({1, n.heads, n.head_dim, n.state_dim}, DType::f32);
            const Inputs in(c, n);
            const Tensor y =
                ssm_scan(c.recorder(), state, in.refs(), {}, {.past = c.recorder().state("past")});
            return {y, state};
          },
          {{"past", {0, 1, 37, -2, 5}}}};
}

}  // namespace

std::vector<OpCase> ssm_scan_cases() {
  return {twice("1", {0, 1, 1, 1, 1, 1, 1}, 1),
          twice("mamba_1", {0, 5, 257, 1, 1, 16, 16}, 0),
          twice("mamba_1_step", {3, 1, 64, 1, 1, 16, 16}, 1),
          twice("mamba_2", {0, 7, 6, 32, 2, 65, 1}, 1),
          twice("mamba_2_step", {5, 1, 4, 33, 1, 128, 1}, 0),
          twice("many_tokens", {2, 1500, 2, 3, 1, 64, 1}, 0),
          chosen(),
          past_in_state()};
}

}  // namespace reprise::testing
