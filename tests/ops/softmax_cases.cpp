#include "reprise/ops/binary.h"
#include "reprise/ops/causal_mask.h"
#include "reprise/ops/copy.h"
#include "reprise/ops/softmax.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr double kLimit = 1e-11;
constexpr const char* kWhy = "exp in f32, sums of one row";

using Call = Tensor (*)(Site, TensorRef, SoftmaxAttributes);

OpCase row(Call call, std::int64_t rows, std::int64_t cols) {
  return {std::to_string(rows) + "x" + std::to_string(cols), kLimit, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor x = c.input({rows, cols}, DType::f32, -8, 8);
            return {call(c.recorder(), x, {.scale = 1.5F})};
          }};
}

// A mask with infinities, of one matrix for all heads.
Tensor mask_of(CaseContext& c, const Shape& shape, DType dtype) {
  const Tensor mask = causal_mask(c.recorder(), c.input(shape), {.n_past = 5});
  return dtype == DType::f32 ? mask : cast(c.recorder(), mask, dtype);
}

OpCase masked(Call call, const std::string& name, const Shape& x, const Shape& mask, DType dtype) {
  return {name, kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor m = mask_of(c, mask, dtype);
            return {call(c.recorder(), c.input(x, DType::f32, -8, 8), {.scale = 0.3F, .mask = m})};
          }};
}

// Slopes of 12 heads: 8 of the power of two below and 4 between them.
OpCase alibi(Call call, const std::string& name, std::int64_t cols, DType dtype,
             float max_bias = 8) {
  return {name, kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor m = mask_of(c, {3, cols}, dtype);
            return {call(c.recorder(), c.input({2, 12, 3, cols}, DType::f32, -8, 8),
                         {.max_bias = max_bias, .mask = m})};
          }};
}

OpCase with_sinks(Call call, const std::string& name, std::int64_t cols) {
  return {name, kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor sinks = c.input({5}, DType::f32, -8, 12);
            const Tensor m = mask_of(c, {4, cols}, DType::f32);
            return {call(c.recorder(), c.input({5, 3, cols}, DType::f32, -8, 8),
                         {.mask = m, .sinks = sinks})};
          }};
}

OpCase strided(Call call) {
  return {"strided_rows", kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor m = slice(r, permute(r, c.input({3, 7, 20}), {1, 0, 2}), 2, 2, 17);
            const Tensor x = permute(r, c.input({3, 7, 17}), {1, 0, 2});
            return {call(r, x, {.mask = m})};
          }};
}

// -infinity in every column of some rows, of all heads but those that a sink saves.
OpCase nothing_seen(Call call, const std::string& name, bool saved) {
  return {name, kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor m =
                causal_mask(c.recorder(), c.input({9, 40}, DType::f32, 0, 0), {.n_past = -4});
            const Tensor sinks = c.input({2});
            return {call(c.recorder(), c.input({2, 9, 40}),
                         {.mask = m, .sinks = saved ? sinks : Tensor()})};
          }};
}

// What overflows is infinite: values from `low` on, of -1 to 1, outside of -0.97 to 0.97. Times 0
// it is NaN.
OpCase not_finite(Call call, const std::string& name, std::int64_t cols, double low, double high,
                  float scale) {
  return {name, kLimit, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor factor = c.input({1}, DType::f32, 3.5e38, 3.5e38);
            const Tensor x = mul(r, c.input({9, cols}, DType::f32, low, high), factor);
            return {call(r, x, {.scale = scale})};
          }};
}

}  // namespace

std::vector<OpCase> softmax_cases(std::string_view op) {
  const Call call = op == "softmax" ? static_cast<Call>(softmax) : static_cast<Call>(log_softmax);
  return {row(call, 1, 1),
          row(call, 3, 257),
          row(call, 65, 64),
          row(call, 7, 1023),
          row(call, 2, 33001),
          masked(call, "mask_f32", {2, 6, 7, 33}, {7, 33}, DType::f32),
          masked(call, "mask_f16", {6, 7, 33}, {7, 33}, DType::f16),
          masked(call, "long_mask_f16", {3, 5, 777}, {5, 777}, DType::f16),
          masked(call, "mask_of_groups", {4, 6, 3, 65}, {2, 3, 8, 65}, DType::f32),
          alibi(call, "alibi", 40, DType::f16),
          alibi(call, "long_alibi", 500, DType::f32),
          alibi(call, "alibi_of_no_slope", 40, DType::f32, 3000),
          with_sinks(call, "sinks", 33),
          with_sinks(call, "long_sinks", 401),
          nothing_seen(call, "nothing_seen", false),
          nothing_seen(call, "nothing_seen_but_sinks", true),
          not_finite(call, "infinite", 70, -1, 1, 0),
          not_finite(call, "minus_infinity", 70, -1, 0.9, 1),
          not_finite(call, "long_infinite", 700, -1, 1, 1),
          not_finite(call, "long_not_a_number", 700, -1, 0.9, 0),
          strided(call)};
}

}  // namespace reprise::testing
