#include "reprise/ops/causal_mask.h"

#include "framework/core/record.h"
#include "framework/ops/push_block.h"
#include "framework/ops/schema.h"

namespace reprise::ops {
namespace {

constexpr std::uint32_t kMinusInfinity = 0xFF800000;

constexpr Attribute kAttributes[] = {
    {"n_past", AttributeType::param_i32, offsetof(CausalMaskAttributes, n_past)}};
constexpr std::string_view kShaders[] = {"causal_mask"};

// Mirrors the push block of shaders/causal_mask.comp.
struct Push {
  StridedTensor x;
  Param<std::int32_t> n_past;
  std::uint32_t elements;
};

Outputs infer(const OpCall& call) {
  if (call.inputs[0].shape().rank() < 2) {
    throw_invalid_argument("causal_mask needs rows and columns, but got ", describe(call, 0), ".");
  }
  return TensorSpec{call.inputs[0].shape(), DType::f32};
}

void reference(const HostCall& call) {
  const HostTensor& x = call.tensors[0];
  const std::int64_t n_past = call.value(call.as<CausalMaskAttributes>().n_past);
  const std::int64_t cols = x.shape().back();
  const std::int64_t stride = last_stride(x);
  auto* y = elements_of<std::uint32_t>(call.tensors[1]);
  for_each_row(x.shape(), [&](std::int64_t i0, std::int64_t i1, std::int64_t i2) {
    const auto* row = elements_of<const std::uint32_t>(x) + x.row(i0, i1, i2);
    for (std::int64_t c = 0; c < cols; ++c) {
      *y++ = c > n_past + i2 ? kMinusInfinity : row[c * stride];
    }
  });
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& x = call.tensors[0];
  const Push push{{x, traits}, call.as<CausalMaskAttributes>().n_past, indexable_elements(x)};
  dispatch_units(call, traits, steps, kShaders[0], {x.shape(), push.elements}, push);
}

}  // namespace

extern const OpDef causal_mask_def;
const OpDef causal_mask_def{.name = "causal_mask",
                            .family = OpFamily::elementwise,
                            .operands = kStridedX,
                            .results = kFloatY,
                            .attributes = kAttributes,
                            .push_bytes = sizeof(Push),
                            .shaders = kShaders,
                            .infer = infer,
                            .cost = cost_per_element<0>,
                            .reference = reference,
                            .lower = lower,
                            .overwrites = 0,
                            .extents = ExtentRule::rows};

}  // namespace reprise::ops

namespace reprise {

Tensor causal_mask(Site site, TensorRef x, CausalMaskAttributes a) {
  return record(site, ops::causal_mask_def, {x}, a);
}

}  // namespace reprise
