#include "reprise/ops/host_step.h"

#include <algorithm>

#include "framework/core/record.h"
#include "framework/ops/host_step_def.h"
#include "reprise/backend/step.h"

namespace reprise::ops {
namespace {

constexpr DTypeSet kAny = 0xFFFFFFFF;
constexpr Operand kOperands[] = {
    {"input_0", Access::read, kAny, true}, {"input_1", Access::read, kAny, true},
    {"input_2", Access::read, kAny, true}, {"input_3", Access::read, kAny, true},
    {"input_4", Access::read, kAny, true}, {"input_5", Access::read, kAny, true},
    {"input_6", Access::read, kAny, true}, {"in_place", Access::read_write, kAny, true}};
static_assert(std::size(kOperands) == kHostStepFirstOutput);
constexpr Operand kResults[] = {{"output_0", Access::write},
                                {"output_1", Access::write},
                                {"output_2", Access::write},
                                {"output_3", Access::write}};
static_assert(std::size(kResults) == Outputs::kMax);

Outputs infer(const OpCall& call) {
  const HostStep& step = *call.as<HostStepAttributes>().step;
  Outputs outputs;
  for (const TensorSpec& spec : step.outputs) {
    if (spec.shape.rank() == 0 || spec.shape.elements() == 0) {
      throw_invalid_argument(
          "The host step '", step.name, "' has an output (", to_string(spec), ") without ",
          (spec.shape.rank() == 0 ? "dimensions; a scalar is [1]." : "elements."));
    }
    outputs.specs[outputs.count++] = TensorSpec(spec.shape, spec.dtype);
  }
  return outputs;
}

Cost cost(const BoundCall& call) { return streaming_cost(call, 0); }

void lower(const BoundCall& call, const DeviceTraits& /*traits*/, StepList& steps) {
  steps.call(call);
}

}  // namespace

const OpDef host_step_def{.name = "host_step",
                          .operands = kOperands,
                          .results = kResults,
                          .infer = infer,
                          .cost = cost,
                          .lower = lower};

}  // namespace reprise::ops

namespace reprise {
namespace {

void require_at_most(std::size_t max, std::size_t count, std::string_view name,
                     std::string_view what) {
  if (count > max) {
    throw_invalid_argument("The host step '", name, "' has (", count, ") ", what, "; at most ", max,
                           " are possible.");
  }
}

}  // namespace

std::vector<Tensor> host_step(Site site, std::string_view name,
                              const std::vector<TensorRef>& inputs,
                              const std::vector<TensorSpec>& outputs, HostFunction function,
                              TensorRef in_place) {
  site.recorder.check(ops::host_step_def.name, site.where, [&] {
    require_at_most(ops::kHostStepInputs, inputs.size(), name, "inputs");
    require_at_most(Outputs::kMax, outputs.size(), name, "outputs");
    if (!function) {
      throw_invalid_argument("The host step '", name, "' has no function.");
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i]) {
        throw_invalid_argument("Input (", i, ") of the host step '", name, "' is an empty tensor.");
      }
    }
  });
  TensorRef operands[ops::kHostStepFirstOutput];
  std::ranges::copy(inputs, operands);
  operands[ops::kHostStepInPlace] = in_place;
  HostStep step{std::string(name), outputs, std::move(function)};
  std::vector<Tensor> results(outputs.size());
  record_into(results, site, ops::host_step_def, operands, ops::HostStepAttributes{&step});
  return results;
}

}  // namespace reprise
