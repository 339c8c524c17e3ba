#include "reprise/ops/add_rms_norm.h"

#include "framework/core/record.h"
#include "framework/ops/push_block.h"
#include "framework/ops/rms_norm_grid.h"
#include "framework/ops/schema.h"

namespace reprise::ops {

extern const OpDef add_def;
extern const OpDef rms_norm_def;

namespace {

constexpr Operand kOperands[] = {{"x", Access::read, accepts({DType::f32}), false, Layout::rows},
                                 {"y", Access::read, accepts({DType::f32}), false, Layout::rows},
                                 {"weight", Access::read, accepts({DType::f32}), true}};
constexpr Operand kResults[] = {{"z", Access::write, accepts({DType::f32})},
                                {"n", Access::write, accepts({DType::f32})}};
constexpr Attribute kAttributes[] = {
    {"eps", AttributeType::param_f32, offsetof(RmsNormAttributes, eps)}};
constexpr std::string_view kShaders[] = {"add_rms_norm", "add_rms_norm.gpu"};

// Mirrors the push block of shaders/include/add_rms_norm.glsl.
struct Push {
  StridedTensor x;
  View y;
  Param<float> eps;
  std::uint32_t weighted;
  std::uint32_t weight_offset;
};

Outputs infer(const OpCall& call) {
  const Shape& x = call.inputs[0].shape();
  require_pair(x == call.inputs[1].shape(), call, "operands of one shape", 0, 1);
  require_row(call, 0, 2);
  Outputs outputs(TensorSpec{x, DType::f32});
  outputs.specs[outputs.count++] = outputs.specs[0];
  return outputs;
}

void reference(const HostCall& call) {
  const std::span<const HostTensor> t = call.tensors;
  const HostTensor sum[] = {t[0], t[1], t[3]};
  add_def.reference({add_def, sum, {}, nullptr});
  const HostTensor norm[] = {t[3], t[2], t[4]};
  rms_norm_def.reference({rms_norm_def, norm, call.attributes, call.state});
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& x = call.tensors[0];
  const BoundTensor& y = call.tensors[1];
  const BoundTensor& weight = call.tensors[2];
  indexable_elements(y);
  const Push push{{x, traits},
                  view_of(y, traits),
                  call.as<RmsNormAttributes>().eps,
                  weight ? 1U : 0U,
                  view_of(weight, traits).offset};
  dispatch_rows(call, traits, steps, x.shape(), kRmsNormGrid, push);
}

}  // namespace

extern const OpDef add_rms_norm_def;
const OpDef add_rms_norm_def{.name = "add_rms_norm",
                             .family = OpFamily::norm,
                             .operands = kOperands,
                             .results = kResults,
                             .attributes = kAttributes,
                             .push_bytes = sizeof(Push),
                             .shaders = kShaders,
                             .infer = infer,
                             .cost = cost_per_element<5>,
                             .reference = reference,
                             .lower = lower,
                             .overwrites = 0,
                             .extents = ExtentRule::rows};

}  // namespace reprise::ops

namespace reprise {

AddRmsNormResult add_rms_norm(Site site, TensorRef x, TensorRef y, TensorRef weight,
                              RmsNormAttributes a) {
  Tensor results[2];
  record_into(results, site, ops::add_rms_norm_def, {x, y, weight}, a);
  return {results[0], results[1]};
}

}  // namespace reprise
