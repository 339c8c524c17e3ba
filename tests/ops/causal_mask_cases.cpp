#include "reprise/ops/binary.h"
#include "reprise/ops/causal_mask.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr const char* kWhy = "copies";

OpCase masked(const std::string& name, const Shape& shape, std::int32_t n_past) {
  return {name, 0, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            return {causal_mask(c.recorder(), c.input(shape), {.n_past = n_past})};
          }};
}

OpCase strided() {
  return {"strided", 0, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
            const Tensor x = permute(c.recorder(), c.input({37, 5, 3}), {2, 1, 0});
            return {causal_mask(c.recorder(), slice(c.recorder(), x, 2, 1, 33), {.n_past = 17})};
          }};
}

// NaN and infinities stay what they are where a row sees them.
OpCase not_finite() {
  return {"not_finite", 1e-30, "NaN of any bits", [](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor large = c.input({1}, DType::f32, 3e38, 3e38);
            const Tensor infinite = mul(r, c.input({8, 16}, DType::f32, -4, 4), large);
            const Tensor none = mul(r, infinite, c.input({1}, DType::f32, 0, 0));
            return {causal_mask(r, infinite, {.n_past = 4}), causal_mask(r, none, {.n_past = 4})};
          }};
}

OpCase followed() {
  return {"past_of_the_state",
          0,
          kWhy,
          [](CaseContext& c) -> std::vector<Tensor> {
            return {causal_mask(c.recorder(), c.input({2, 9, 40}),
                                {.n_past = c.recorder().state("n_past")})};
          },
          {{"n_past", {0, 31, 7, -3, 2147483647, -2147483647}}}};
}

}  // namespace

std::vector<OpCase> causal_mask_cases() {
  return {masked("1x1", {1, 1}, 0),
          masked("65x65", {65, 65}, 0),
          masked("2x3x7x257", {2, 3, 7, 257}, 250),
          masked("before_the_first_column", {9, 12}, -5),
          masked("beyond_the_last_column", {9, 12}, 100),
          strided(),
          not_finite(),
          followed()};
}

}  // namespace reprise::testing
