#include "reprise/ops/argmax.h"
#include "reprise/ops/binary.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr const char* kWhy = "indices";

OpCase row(const std::string& name, const Shape& shape) {
  return {name, 0, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            return {argmax(c.recorder(), c.input(shape))};
          }};
}

// The same 64 values four times per row.
OpCase ties() {
  return {"first_of_equals", 0, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
            const Tensor zeros = c.input({65, 256}, DType::f32, 0, 0);
            return {argmax(c.recorder(), add(c.recorder(), zeros, c.input({65, 64})))};
          }};
}

// Subnormals only: a device that flushes them would call all equal.
OpCase subnormal() {
  return {"subnormal", 0, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
            return {argmax(c.recorder(), c.input({7, 65}, DType::f32, -1e-39, 1e-39))};
          }};
}

// What overflows becomes NaN: values from `low` on, of -4 to 4, outside of -1.13 to 1.13.
OpCase numbers_and_others(const std::string& name, double low) {
  return {name, 0, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor large =
                mul(r, c.input({9, 300}, DType::f32, low, 4), c.input({1}, DType::f32, 3e38, 3e38));
            const Tensor nothing = mul(r, large, c.input({1}, DType::f32, 0, 0));
            return {argmax(r, add(r, nothing, c.input({9, 300})))};
          }};
}

OpCase strided() {
  return {"strided", 0, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
            const Tensor x = permute(c.recorder(), c.input({67, 5, 3}), {2, 1, 0});
            return {argmax(c.recorder(), slice(c.recorder(), x, 2, 1, 65))};
          }};
}

}  // namespace

std::vector<OpCase> argmax_cases() {
  return {row("1x1", {1, 1}),
          row("vector", {257}),
          row("65x65", {65, 65}),
          row("1x32000", {1, 32000}),
          row("2x3x17", {2, 3, 17}),
          row("3x4097", {3, 4097}),
          row("1x152000", {1, 152000}),
          numbers_and_others("some_not_a_number", -4),
          numbers_and_others("not_a_number", 2),
          ties(),
          subnormal(),
          strided()};
}

}  // namespace reprise::testing
