#include "reprise/ops/add.h"
#include "reprise/ops/argmax.h"
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
          ties(),
          subnormal(),
          strided()};
}

}  // namespace reprise::testing
