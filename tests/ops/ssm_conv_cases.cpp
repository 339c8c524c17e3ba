#include <algorithm>

#include "reprise/ops/ssm_conv.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr double kLimit = 1e-12;
constexpr const char* kWhy = "f32 sums of a few taps";

struct Sizes {
  std::int64_t sequences, tokens, channels, width;  // 0 sequences: one, without a dimension
};
Shape tokens_of(const Sizes& n) {
  return n.sequences == 0 ? Shape{n.tokens, n.channels} : Shape{n.sequences, n.tokens, n.channels};
}

// Two calls in a row: the second one continues the first.
OpCase twice(const Sizes& n, bool biased, std::int32_t past) {
  return {std::to_string(n.sequences) + "x" + std::to_string(n.tokens) + "x" +
              std::to_string(n.channels) + "x" + std::to_string(n.width) +
              (biased ? "_biased" : "") + (past > 0 ? "" : "_begins"),
          kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor state = c.persistent(
                {std::max<std::int64_t>(n.sequences, 1), n.channels, n.width - 1}, DType::f32);
            const Tensor w = c.input({n.channels, n.width});
            const Tensor bias = biased ? c.input({n.channels}) : Tensor();
            const Tensor y = ssm_conv(r, state, c.input(tokens_of(n)), w, bias, {}, {.past = past});
            const Tensor z = ssm_conv(r, state, c.input(tokens_of(n)), w, bias);
            return {y, z, state};
          }};
}

// Ids inside and outside the table; x as projections leave it.
OpCase chosen() {
  return {"chosen_sequences", kLimit, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor whole = c.persistent({9, 17, 3}, DType::f32);
            const Tensor state = slice(r, whole, 0, 1, 7);
            const Tensor x = permute(r, slice(r, c.input({17, 8, 5}), 1, 2, 6), {1, 2, 0});
            const Tensor ids = slice(r, c.ids({7}, DType::i32, -1, 9), 0, 1, 6);
            const Tensor w = slice(r, c.input({19, 4}), 0, 1, 17);
            return {ssm_conv(r, state, x, w, slice(r, c.input({20}), 0, 3, 17), ids), whole};
          }};
}

OpCase past_in_state() {
  return {"past_from_state",
          kLimit,
          kWhy,
          [](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor state = c.persistent({1, 65, 3}, DType::f32);
            const Tensor y = ssm_conv(r, state, c.input({2, 65}), c.input({65, 4}), {}, {},
                                      {.past = r.state("past")});
            return {y, state};
          },
          {{"past", {0, 1, 37, -2, 5}}}};
}

}  // namespace

std::vector<OpCase> ssm_conv_cases() {
  return {twice({0, 1, 1, 2}, false, 1),
          twice({0, 5, 64, 4}, false, 1),
          twice({0, 1, 257, 4}, true, 1),
          twice({0, 2, 31, 5}, true, 0),
          twice({3, 2, 65, 4}, false, 0),
          twice({2, 9000, 3, 4}, true, 1),
          twice({0, 3, 5, 18}, true, 1),
          chosen(),
          past_in_state()};
}

}  // namespace reprise::testing
