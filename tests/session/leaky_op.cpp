#include "tests/session/leaky_op.h"

#include "framework/core/op.h"
#include "framework/core/record.h"
#include "reprise/backend/step.h"

namespace reprise::testing {
namespace {

struct NoAttributes {};

std::uint32_t& leaked() {
  static std::uint32_t value = 0;
  return value;
}

constexpr Operand kOperands[] = {{"x", Access::read, accepts({DType::f32})}};
constexpr Operand kResults[] = {{"y", Access::write}};

Outputs infer(const OpCall& call) { return call.inputs[0].spec(); }

Cost cost(const BoundCall& call) { return streaming_cost(call, 0); }

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const std::uint32_t value = leaked() + 1;
  steps.dispatch(call, traits, {"leaky", {value}, 1}, {value, 1, 1}, value);
  const std::uint64_t bytes = std::uint64_t{value} * sizeof value;
  steps.copy(call.node, {.pool = call.tensors[0].storage, .access = Access::read, .bytes = bytes},
             {.pool = call.tensors[1].storage, .access = Access::write, .bytes = bytes});
}

const OpDef leaky_def{.name = "leaky",
                      .operands = kOperands,
                      .results = kResults,
                      .infer = infer,
                      .cost = cost,
                      .lower = lower};

}  // namespace

void leak(std::int32_t value) { leaked() = static_cast<std::uint32_t>(value); }

Tensor leaky(Site site, TensorRef x) { return record(site, leaky_def, {x}, NoAttributes{}); }

}  // namespace reprise::testing
