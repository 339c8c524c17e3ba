#include "reprise/ops/combine_experts.h"

#include "framework/core/record.h"
#include "framework/ops/gpu_groups.h"
#include "framework/ops/push_block.h"
#include "framework/ops/schema.h"

namespace reprise::ops {
namespace {

constexpr Operand kOperands[] = {{"y", Access::read, accepts({DType::f32}), false, Layout::rows},
                                 {"weights", Access::read, accepts({DType::f32})}};
constexpr Operand kResults[] = {{"z", Access::write, accepts({DType::f32})}};
constexpr std::string_view kShaders[] = {"combine_experts"};

// Mirrors the push block of shaders/combine_experts.comp.
struct Push {
  StridedTensor y;
  std::uint32_t weights_offset;
};

Outputs infer(const OpCall& call) {
  require_rank(call, 0, 3);
  require_rank(call, 1, 2);
  const Shape& y = call.inputs[0].shape();
  const Shape& weights = call.inputs[1].shape();
  require_pair(y.dim(0) == weights.dim(0) && y.dim(1) == weights.dim(1), call,
               "one weight for each expert of a row", 0, 1);
  return TensorSpec{{y.extent(0), y.dim(2)}, DType::f32};
}

void reference(const HostCall& call) {
  const HostTensor& y = call.tensors[0];
  const HostTensor& weights = call.tensors[1];
  const HostTensor& z = call.tensors[2];
  const std::int64_t used = y.shape().dim(1);
  for (std::int64_t r = 0; r < y.shape().dim(0); ++r) {
    for (std::int64_t c = 0; c < y.shape().back(); ++c) {
      double sum = 0;
      for (std::int64_t j = 0; j < used; ++j) {
        sum += weights.load(r * used + j) * y.load(y.row(0, r, j) + c);
      }
      z.store(z.row(0, 0, r) + c, sum);
    }
  }
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& y = call.tensors[0];
  const BoundTensor& z = call.tensors[2];
  require_loop_limit(call, traits, y.shape().dim(1), y.shape().dim(1));
  const Push push{{y, traits}, view_of(call.tensors[1], traits).offset};
  dispatch_units(call, traits, steps, call.op.shaders[0], {z.shape(), indexable_elements(z)}, push);
}

}  // namespace

extern const OpDef combine_experts_def;
const OpDef combine_experts_def{.name = "combine_experts",
                                .family = OpFamily::elementwise,
                                .operands = kOperands,
                                .results = kResults,
                                .push_bytes = sizeof(Push),
                                .shaders = kShaders,
                                .infer = infer,
                                .cost = cost_per_element<2>,
                                .reference = reference,
                                .lower = lower,
                                .extents = ExtentRule::rows};

}  // namespace reprise::ops

namespace reprise {

Tensor combine_experts(Site site, TensorRef y, TensorRef weights) {
  return record(site, ops::combine_experts_def, {y, weights});
}

}  // namespace reprise
