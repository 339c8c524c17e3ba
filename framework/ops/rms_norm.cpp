#include "reprise/ops/rms_norm.h"

#include <cmath>

#include "framework/core/record.h"
#include "framework/ops/push_block.h"
#include "framework/ops/rms_norm_grid.h"
#include "framework/ops/schema.h"

namespace reprise::ops {
namespace {

constexpr Operand kOperands[] = {{"x", Access::read, accepts({DType::f32}), false, Layout::rows},
                                 {"weight", Access::read, accepts({DType::f32}), true}};
constexpr Attribute kAttributes[] = {
    {"eps", AttributeType::param_f32, offsetof(RmsNormAttributes, eps)}};
constexpr std::string_view kShaders[] = {"rms_norm", "rms_norm.gpu"};

// Mirrors the push block of shaders/rms_norm.comp.
struct Push {
  StridedTensor x;
  Param<float> eps;
  std::uint32_t weighted;
  std::uint32_t weight_offset;
};

Outputs infer(const OpCall& call) {
  require_row(call, 0, 1);
  return TensorSpec{call.inputs[0].shape(), DType::f32};
}

void reference(const HostCall& call) {
  const HostTensor& x = call.tensors[0];
  const HostTensor& weight = call.tensors[1];
  const HostTensor& y = call.tensors[2];
  const double eps = static_cast<double>(call.value(call.as<RmsNormAttributes>().eps));
  const std::int64_t cols = x.shape().back();
  for_each_row(x.shape(), [&](std::int64_t i0, std::int64_t i1, std::int64_t i2) {
    const std::int64_t from = x.row(i0, i1, i2);
    const std::int64_t to = y.row(i0, i1, i2);
    double sum = 0;
    for (std::int64_t c = 0; c < cols; ++c) {
      const double v = x.load(from + c);
      sum += v * v;
    }
    const double scale = 1.0 / std::sqrt(sum / static_cast<double>(cols) + eps);
    for (std::int64_t c = 0; c < cols; ++c) {
      y.store(to + c, x.load(from + c) * scale * (weight ? weight.load(c) : 1.0));
    }
  });
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& x = call.tensors[0];
  const BoundTensor& weight = call.tensors[1];
  const Push push{{x, traits},
                  call.as<RmsNormAttributes>().eps,
                  weight ? 1U : 0U,
                  view_of(weight, traits).offset};
  dispatch_rows(call, traits, steps, x.shape(), kRmsNormGrid, push);
}

}  // namespace

extern const OpDef rms_norm_def;
const OpDef rms_norm_def{.name = "rms_norm",
                         .family = OpFamily::norm,
                         .operands = kOperands,
                         .results = kFloatY,
                         .attributes = kAttributes,
                         .push_bytes = sizeof(Push),
                         .shaders = kShaders,
                         .infer = infer,
                         .cost = cost_per_element<4>,
                         .reference = reference,
                         .lower = lower,
                         .extents = ExtentRule::rows};

}  // namespace reprise::ops

namespace reprise {

Tensor rms_norm(Site site, TensorRef x, TensorRef weight, RmsNormAttributes a) {
  return record(site, ops::rms_norm_def, {x, weight}, a);
}

}  // namespace reprise
