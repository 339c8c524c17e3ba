#include "reprise/ops/l2_norm.h"

#include <cmath>

#include "framework/core/record.h"
#include "framework/ops/push_block.h"
#include "framework/ops/row_grid.h"
#include "framework/ops/schema.h"

namespace reprise::ops {
namespace {

constexpr Operand kOperands[] = {{"x", Access::read, accepts({DType::f32}), false, Layout::rows}};
constexpr Attribute kAttributes[] = {
    {"eps", AttributeType::param_f32, offsetof(L2NormAttributes, eps)}};
constexpr std::string_view kShaders[] = {"l2_norm", "l2_norm.gpu"};
constexpr RowGrid kGrid{.passes = 2};  // length, result

// Mirrors the push block of shaders/include/l2_norm.glsl.
struct Push {
  StridedTensor x;
  Param<float> eps;
};

Outputs infer(const OpCall& call) { return TensorSpec{call.inputs[0].shape(), DType::f32}; }

void reference(const HostCall& call) {
  const auto eps = static_cast<double>(call.value(call.as<L2NormAttributes>().eps));
  float* y = elements_of<float>(call.tensors[1]);
  for_each_float_row(call.tensors[0], [&](const FloatRow& row) {
    double sum = 0;
    for (std::int64_t c = 0; c < row.columns; ++c) {
      const auto v = static_cast<double>(row[c]);
      sum += v * v;
    }
    const double length = std::sqrt(sum);
    const double scale = 1.0 / (length < eps ? eps : length);
    for (std::int64_t c = 0; c < row.columns; ++c) {
      *y++ = static_cast<float>(static_cast<double>(row[c]) * scale);
    }
  });
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& x = call.tensors[0];
  const Push push{{x, traits}, call.as<L2NormAttributes>().eps};
  dispatch_rows(call, traits, steps, x.shape(), kGrid, push);
}

}  // namespace

extern const OpDef l2_norm_def;
const OpDef l2_norm_def{.name = "l2_norm",
                        .family = OpFamily::norm,
                        .operands = kOperands,
                        .results = kFloatY,
                        .attributes = kAttributes,
                        .push_bytes = sizeof(Push),
                        .shaders = kShaders,
                        .infer = infer,
                        .cost = cost_per_element<3>,
                        .reference = reference,
                        .lower = lower,
                        .extents = ExtentRule::rows};

}  // namespace reprise::ops

namespace reprise {

Tensor l2_norm(Site site, TensorRef x, L2NormAttributes a) {
  return record(site, ops::l2_norm_def, {x}, a);
}

}  // namespace reprise
