#include "reprise/ops/layer_norm.h"

#include <cmath>

#include "framework/core/record.h"
#include "framework/ops/push_block.h"
#include "framework/ops/row_grid.h"
#include "framework/ops/schema.h"

namespace reprise::ops {
namespace {

constexpr Operand kOperands[] = {{"x", Access::read, accepts({DType::f32}), false, Layout::rows},
                                 {"weight", Access::read, accepts({DType::f32}), true},
                                 {"bias", Access::read, accepts({DType::f32}), true}};
constexpr Attribute kAttributes[] = {
    {"eps", AttributeType::param_f32, offsetof(LayerNormAttributes, eps)}};
constexpr std::string_view kShaders[] = {"layer_norm", "layer_norm.gpu"};
constexpr RowGrid kGrid{.passes = 3};  // mean, variance, result

// Mirrors the push block of shaders/include/layer_norm.glsl.
struct Push {
  StridedTensor x;
  Param<float> eps;
  std::uint32_t given;  // bit 0: weight, bit 1: bias
  std::uint32_t weight_offset;
  std::uint32_t bias_offset;
};

Outputs infer(const OpCall& call) {
  require_row(call, 0, 1);
  require_row(call, 0, 2);
  return TensorSpec{call.inputs[0].shape(), DType::f32};
}

void reference(const HostCall& call) {
  const HostTensor& weight = call.tensors[1];
  const HostTensor& bias = call.tensors[2];
  const auto eps = static_cast<double>(call.value(call.as<LayerNormAttributes>().eps));
  float* y = elements_of<float>(call.tensors[3]);
  for_each_float_row(call.tensors[0], [&](const FloatRow& row) {
    const auto columns = static_cast<double>(row.columns);
    double sum = 0;
    for (std::int64_t c = 0; c < row.columns; ++c) {
      sum += static_cast<double>(row[c]);
    }
    const double mean = sum / columns;
    double squares = 0;
    for (std::int64_t c = 0; c < row.columns; ++c) {
      const double distance = static_cast<double>(row[c]) - mean;
      squares += distance * distance;
    }
    const double scale = 1.0 / std::sqrt(squares / columns + eps);
    for (std::int64_t c = 0; c < row.columns; ++c) {
      *y++ = static_cast<float>((static_cast<double>(row[c]) - mean) * scale *
                                    (weight ? weight.load(c) : 1.0) +
                                (bias ? bias.load(c) : 0.0));
    }
  });
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& x = call.tensors[0];
  const BoundTensor& weight = call.tensors[1];
  const BoundTensor& bias = call.tensors[2];
  const Push push{{x, traits},
                  call.as<LayerNormAttributes>().eps,
                  (weight ? 1U : 0U) | (bias ? 2U : 0U),
                  view_of(weight, traits).offset,
                  view_of(bias, traits).offset};
  dispatch_rows(call, traits, steps, x.shape(), kGrid, push);
}

}  // namespace

extern const OpDef layer_norm_def;
const OpDef layer_norm_def{.name = "layer_norm",
                           .family = OpFamily::norm,
                           .operands = kOperands,
                           .results = kFloatY,
                           .attributes = kAttributes,
                           .push_bytes = sizeof(Push),
                           .shaders = kShaders,
                           .infer = infer,
                           .cost = cost_per_element<8>,
                           .reference = reference,
                           .lower = lower,
                           .extents = ExtentRule::rows};

}  // namespace reprise::ops

namespace reprise {

Tensor layer_norm(Site site, TensorRef x, TensorRef weight, TensorRef bias, LayerNormAttributes a) {
  return record(site, ops::layer_norm_def, {x, weight, bias}, a);
}

}  // namespace reprise
