#include "tests/golden_runner/elementwise_cases.h"

#include <algorithm>

namespace golden {
namespace {

using reprise::Recorder;
using reprise::Site;
using reprise::Tensor;
using reprise::TensorRef;

template <class F>
struct Row {
  std::string_view op;
  F record;
};
constexpr Row<Tensor (*)(Site, TensorRef)> kOfX[] = {
    {"cos", reprise::cos},           {"exp", reprise::exp},
    {"geglu", reprise::gelu_mul},    {"gelu", reprise::gelu},
    {"gelu_erf", reprise::gelu_erf}, {"gelu_quick", reprise::gelu_quick},
    {"log", reprise::log},           {"neg", reprise::neg},
    {"relu", reprise::relu},         {"sigmoid", reprise::sigmoid},
    {"silu", reprise::silu},         {"sin", reprise::sin},
    {"sqr", reprise::sqr},           {"sqrt", reprise::sqrt},
    {"swiglu", reprise::silu_mul},   {"tanh", reprise::tanh},
};
constexpr Row<Tensor (*)(Site, TensorRef, TensorRef)> kOfAAndB[] = {
    {"add", reprise::add}, {"div", reprise::div}, {"mul", reprise::mul}, {"sub", reprise::sub}};

}  // namespace

Tensor elementwise_case(Recorder& r, const GoldenCase& c, const CaseInput& input) {
  const auto named = [&](const auto& row) { return row.op == c.op; };
  if (const auto* row = std::ranges::find_if(kOfX, named); row != std::end(kOfX)) {
    return row->record(r, input("x", 1));
  }
  if (const auto* row = std::ranges::find_if(kOfAAndB, named); row != std::end(kOfAAndB)) {
    const Tensor a = input("a", 4);
    return row->record(r, a, input("b", 4));
  }
  if (c.op == "swiglu_split") {
    const Tensor gate = input("gate", 1);
    return silu_mul(r, gate, input("up", 1));
  }
  if (c.op == "scale") {
    return scale(r, input("x", 1), {.scale = c.real("scale"), .bias = c.real("bias")});
  }
  if (c.op == "clamp") {
    return clamp(r, input("x", 1), {.min = c.real("min"), .max = c.real("max")});
  }
  return {};
}

}  // namespace golden
