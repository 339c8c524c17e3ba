#include "reprise/ops/copy.h"
#include "reprise/ops/sample.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"
#include "tests/ops/order_cases.h"

namespace reprise::testing {
namespace {

constexpr const char* kWhy = "tokens";

/// Logits of up to `range`: every token as likely as any other, or few of them likely.
OpCase spread(const std::string& name, double range, const Shape& shape,
              const SampleAttributes& a) {
  return {name, 0, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            return {sample(c.recorder(), c.input(shape, DType::f32, -range, range), a)};
          }};
}

OpCase drawn(const std::string& name, const Shape& shape, const SampleAttributes& a) {
  return spread(name, 6, shape, a);
}

// Many rows that all filters cut, so that each attribute changes a token.
OpCase filtered(const std::string& name, std::int64_t tokens, std::int64_t recent_rows) {
  return {name, 0, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            const Shape shape = recent_rows == 0 ? Shape{37} : Shape{recent_rows, 37};
            const Tensor recent = c.ids(shape, DType::i32, -5, tokens + 5);
            return {sample(c.recorder(), c.input({65, tokens}, DType::f32, -4, 4),
                           {.temperature = 0.8F,
                            .top_k = 40,
                            .top_p = 0.9F,
                            .min_p = 0.02F,
                            .repetition_penalty = 1.3F,
                            .seed = 11,
                            .position = 5,
                            .recent = recent})};
          }};
}

OpCase strided() {
  return {
      "strided_rows", 0, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
        const Tensor logits = slice(c.recorder(), c.input({9, 100}, DType::f32, -4, 4), 1, 7, 80);
        const Tensor recent = slice(c.recorder(), c.ids({60}, DType::i32, 0, 80), 0, 3, 50);
        return {sample(c.recorder(), logits,
                       {.top_p = 0.7F, .repetition_penalty = 0.6F, .recent = recent})};
      }};
}

// Every number from the state, the ones that count as another among them.
OpCase followed() {
  return {
      "attributes_of_the_state",
      0,
      kWhy,
      [](CaseContext& c) -> std::vector<Tensor> {
        Recorder& r = c.recorder();
        return {sample(
            r, c.input({40, 300}, DType::f32, -4, 4),
            {.top_k = r.state("top_k"), .seed = r.state("seed"), .position = r.state("position")})};
      },
      {{"top_k", {0, 5, -1, 400, 1, 300}},
       {"seed", {1, 2, -1, 2147483647, 5, 6}},
       {"position", {0, 1, 2, -1, 4, 5}}}};
}

}  // namespace

std::vector<OpCase> sample_cases() {
  std::vector<OpCase> cases{
      drawn("1x1", {1, 1}, {}),
      drawn("65x64", {65, 64}, {}),
      drawn("3x257_top_k_1", {3, 257}, {.top_k = 1}),
      drawn("9x1025_top_k", {9, 1025}, {.temperature = 3, .top_k = 17}),
      drawn("9x1025_top_p", {9, 1025}, {.temperature = 0.5F, .top_p = 0.95F}),
      drawn("9x1025_top_p_0", {9, 1025}, {.top_p = 0}),
      drawn("9x1025_min_p", {9, 1025}, {.temperature = 2, .min_p = 0.1F}),
      drawn("greedy", {9, 1025}, {.temperature = 0}),
      drawn("cold", {9, 1025}, {.temperature = 1e-20F}),
      drawn("hot", {9, 1025}, {.temperature = 1e20F}),
      drawn("2x32003", {2, 32003}, {.temperature = 1.1F, .top_k = 1000, .top_p = 0.99F}),
      drawn("1x152000", {1, 152000}, {.temperature = 1.3F, .top_p = 0.8F}),
      drawn("1x152001_top_k", {1, 152001}, {.top_k = 40, .top_p = 0.9F, .min_p = 0.01F}),
      spread("equal_logits", 0, {9, 4099}, {.top_p = 0.4F}),
      spread("nearly_equal_logits", 0.01, {65, 1025}, {.top_p = 0.7F}),
      spread("distant_logits", 300, {65, 1025}, {.temperature = 9, .top_p = 0.999F}),
      spread("all_levels", 20, {65, 3001}, {.temperature = 3, .top_p = 0.99999F}),
      spread("far_from_zero", 1e9, {65, 1025}, {.temperature = 1e8F, .top_p = 0.9F}),
      filtered("filtered", 300, 0),
      filtered("filtered_by_rows", 4001, 65),
      strided(),
      followed()};
  for (const SampleAttributes& a :
       {SampleAttributes{.top_k = 60}, SampleAttributes{.temperature = 2, .top_p = 0.6F},
        SampleAttributes{.temperature = 0}}) {
    const std::string prefix = a.top_k.value > 0   ? "top_k_of_"
                               : a.top_p.value < 1 ? "top_p_of_"
                                                   : "largest_of_";
    for (OpCase& hard : order_cases(prefix, [=](Recorder&r, const Tensor&x) {
           return sample(r, reshape(r, copy(r, x), {x.shape().rows(), x.shape().back()}), a);
         })) {
      cases.push_back(std::move(hard));
    }
  }
  return cases;
}

}  // namespace reprise::testing
