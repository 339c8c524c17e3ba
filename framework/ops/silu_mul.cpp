#include "reprise/ops/silu_mul.h"

#include <cmath>

#include "framework/ops/elementwise.h"
#include "framework/ops/schema.h"
#include "reprise/core/step.h"

namespace reprise::ops {
namespace {

struct NoAttributes {};

constexpr Operand kOperands[] = {{"gate", Access::read, accepts({DType::f32}), false, Layout::rows},
                                 {"up", Access::read, accepts({DType::f32}), true, Layout::rows}};
constexpr Operand kResults[] = {{"y", Access::write}};
constexpr std::string_view kShaders[] = {"silu_mul", "silu_mul.lanes"};

// Mirrors the push block of shaders/silu_mul.comp.
struct Push {
  std::array<std::uint32_t, 4> shape;  // of y
  View gate;
  View up;
  std::uint32_t joined;
};

Outputs infer(const OpCall& call) {
  const Shape& gate = call.inputs[0].shape();
  if (call.inputs[1]) {
    require_pair(gate == call.inputs[1].shape(), call, "equal shapes", 0, 1);
    return TensorSpec{gate, DType::f32};
  }
  if (gate.back() % 2 != 0) {
    invalid("silu_mul of one tensor needs an even last dimension, but " + describe(call, 0) +
            " has (" + std::to_string(gate.back()) + ").");
  }
  return TensorSpec{gate.with_back(gate.back() / 2), DType::f32};
}

Cost cost(const BoundCall& call) {
  return streaming_cost(call, 5 * static_cast<std::uint64_t>(call.tensors[2].shape().elements()));
}

void reference(const HostCall& call) {
  const HostTensor& gate = call.tensors[0];
  const HostTensor& y = call.tensors[2];
  const HostTensor& up = call.tensors[1] ? call.tensors[1] : gate;
  const std::int64_t cols = y.shape().back();
  const std::int64_t skip = call.tensors[1] ? 0 : cols;
  for_each_row(y.shape(), [&](std::int64_t i0, std::int64_t i1, std::int64_t i2) {
    const std::int64_t from = gate.row(i0, i1, i2);
    const std::int64_t other = up.row(i0, i1, i2) + skip;
    const std::int64_t to = y.row(i0, i1, i2);
    for (std::int64_t c = 0; c < cols; ++c) {
      const double g = gate.load(from + c);
      y.store(to + c, g / (1.0 + std::exp(-g)) * up.load(other + c));
    }
  });
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& gate = call.tensors[0];
  const BoundTensor& up = call.tensors[1];
  const Shape& shape = call.tensors[2].shape();
  const Push push{shape_words(shape), view_of(gate, traits), view_of(up ? up : gate, traits),
                  up ? 0U : 1U};
  const bool lanes = traits.kernels == KernelFamily::lanes && up &&
                     in_whole_texels(gate, push.gate) && in_whole_texels(up, push.up);
  const std::uint32_t elements = word(shape.elements());
  steps.dispatch(call, traits, {kShaders[lanes ? 1 : 0], {traits.workgroup_size}, 1},
                 groups_for({shape, elements}, (lanes ? 4 : 1) * traits.workgroup_size), push);
}

}  // namespace

extern const OpDef silu_mul_def;
const OpDef silu_mul_def{.name = "silu_mul",
                         .family = OpFamily::elementwise,
                         .operands = kOperands,
                         .results = kResults,
                         .attributes = {},
                         .push_bytes = sizeof(Push),
                         .shaders = kShaders,
                         .infer = infer,
                         .cost = cost,
                         .reference = reference,
                         .lower = lower,
                         .overwrites = 0,
                         .extents = ExtentRule::rows};

}  // namespace reprise::ops

namespace reprise {

Tensor silu_mul(Site site, TensorRef gate, TensorRef up) {
  return record(site, ops::silu_mul_def, {gate, up}, ops::NoAttributes{});
}

Tensor silu_mul(Site site, TensorRef x) {
  return record(site, ops::silu_mul_def, {x, {}}, ops::NoAttributes{});
}

}  // namespace reprise
