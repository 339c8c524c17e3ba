#include "reprise/ops/gated.h"

#include "framework/core/record.h"
#include "framework/ops/activations.h"
#include "framework/ops/elementwise.h"

namespace reprise::ops {
namespace {

constexpr Operand kOperands[] = {{"gate", Access::read, accepts({DType::f32}), false, Layout::rows},
                                 {"up", Access::read, accepts({DType::f32}), true, Layout::rows}};
constexpr std::string_view kShaders[] = {"gated.gelu_mul",    "gated.lanes_gelu_mul",
                                         "gated.sigmoid_mul", "gated.lanes_sigmoid_mul",
                                         "gated.silu_mul",    "gated.lanes_silu_mul"};

// Mirrors the push block of shaders/gated.comp.
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
    throw_invalid_argument(call.op.name, " of one tensor needs an even last dimension, but ",
                           describe(call, 0), " has (", gate.back(), ").");
  }
  return TensorSpec{gate.with_back(gate.back() / 2), DType::f32};
}

template <class F>
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
      y.store(to + c, F()(gate.load(from + c)) * up.load(other + c));
    }
  });
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& gate = call.tensors[0];
  const BoundTensor& up = call.tensors[1] ? call.tensors[1] : gate;
  const Shape& shape = call.tensors[2].shape();
  indexable_elements(gate);
  indexable_elements(up);
  const std::uint32_t elements = indexable_elements(call.tensors[2]);
  const bool joined = !call.tensors[1];
  const Push push{shape_words(shape), view_of(gate, traits), view_of(up, traits), joined ? 1U : 0U};
  const bool lanes = traits.kernels == KernelFamily::lanes && !joined &&
                     in_whole_texels(gate, push.gate) && in_whole_texels(up, push.up);
  dispatch_units(call, traits, steps, call.op.shaders[lanes ? 1 : 0], {shape, elements}, push,
                 lanes ? 4 : 1);
}

template <std::uint64_t kOperations, class F>
constexpr OpDef gated_def(std::string_view name, F /*f*/) {
  return {.name = name,
          .family = OpFamily::elementwise,
          .operands = kOperands,
          .results = kFloatY,
          .push_bytes = sizeof(Push),
          .shaders = shaders_of(kShaders, name, 2),
          .infer = infer,
          .cost = cost_per_element<kOperations, 2>,
          .reference = reference<F>,
          .lower = lower,
          .overwrites = 0,
          .extents = ExtentRule::rows};
}

}  // namespace

extern const OpDef gelu_mul_def, sigmoid_mul_def, silu_mul_def;
constinit const OpDef gelu_mul_def =
    gated_def<9>("gelu_mul", [](double gate) { return gelu_of(gate); });
constinit const OpDef sigmoid_mul_def =
    gated_def<5>("sigmoid_mul", [](double gate) { return sigmoid_of(gate); });
constinit const OpDef silu_mul_def =
    gated_def<5>("silu_mul", [](double gate) { return silu_of(gate); });

}  // namespace reprise::ops

namespace reprise {
namespace {

/// An empty `up` would be the form of one operand.
Tensor of_two(const Site& site, const OpDef& op, TensorRef gate, TensorRef up) {
  require_operand(site, op, 1, up);
  return record(site, op, {gate, up});
}

}  // namespace

Tensor gelu_mul(Site site, TensorRef gate, TensorRef up) {
  return of_two(site, ops::gelu_mul_def, gate, up);
}
Tensor gelu_mul(Site site, TensorRef x) { return record(site, ops::gelu_mul_def, {x, {}}); }

Tensor sigmoid_mul(Site site, TensorRef gate, TensorRef up) {
  return of_two(site, ops::sigmoid_mul_def, gate, up);
}
Tensor sigmoid_mul(Site site, TensorRef x) { return record(site, ops::sigmoid_mul_def, {x, {}}); }

Tensor silu_mul(Site site, TensorRef gate, TensorRef up) {
  return of_two(site, ops::silu_mul_def, gate, up);
}
Tensor silu_mul(Site site, TensorRef x) { return record(site, ops::silu_mul_def, {x, {}}); }

}  // namespace reprise
