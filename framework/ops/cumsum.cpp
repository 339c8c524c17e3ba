#include "reprise/ops/cumsum.h"

#include "framework/core/record.h"
#include "framework/ops/gpu_groups.h"
#include "framework/ops/push_block.h"
#include "framework/ops/schema.h"

namespace reprise::ops {
namespace {

constexpr std::string_view kShaders[] = {"cumsum"};

Outputs infer(const OpCall& call) { return TensorSpec{call.inputs[0].shape(), DType::f32}; }

void reference(const HostCall& call) {
  float* y = elements_of<float>(call.tensors[1]);
  for_each_float_row(call.tensors[0], [&](const FloatRow& row) {
    double sum = 0;
    for (std::int64_t c = 0; c < row.columns; ++c) {
      sum += static_cast<double>(row[c]);
      *y++ = static_cast<float>(sum);
    }
  });
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  constexpr std::int64_t kElementsPerInvocation = 8;
  constexpr std::uint32_t kMaxInvocations = 256;
  const BoundTensor& x = call.tensors[0];
  const std::int64_t columns = x.shape().back();
  const std::uint32_t local = group_size(columns / kElementsPerInvocation, kMaxInvocations, traits);
  // Twice its part of the row, and the sums of the parts before it.
  require_loop_limit(call, traits, 2 * (columns / local + 1) + local, columns);
  const StridedTensor push(x, traits);
  steps.dispatch(call, traits, {kShaders[0], {local}, 1}, grid_of(x.shape(), x.shape().rows()),
                 push);
}

}  // namespace

extern const OpDef cumsum_def;
const OpDef cumsum_def{.name = "cumsum",
                       .family = OpFamily::other,
                       .operands = kStridedX,
                       .results = kFloatY,
                       .push_bytes = sizeof(StridedTensor),
                       .shaders = kShaders,
                       .infer = infer,
                       .cost = cost_per_element<2>,
                       .reference = reference,
                       .lower = lower,
                       .extents = ExtentRule::rows};

}  // namespace reprise::ops

namespace reprise {

Tensor cumsum(Site site, TensorRef x) { return record(site, ops::cumsum_def, {x}); }

}  // namespace reprise
