#include "reprise/ops/rope.h"

#include <cmath>

#include "framework/ops/rope_form.h"
#include "framework/ops/schema.h"
#include "reprise/core/step.h"

namespace reprise::ops {
namespace {

constexpr Operand kOperands[] = {{"x", Access::read, accepts({DType::f32}), false, Layout::rows},
                                 {"positions", Access::read, accepts({DType::i32}), true},
                                 {"frequency_factors", Access::read, accepts({DType::f32}), true}};
constexpr Operand kResults[] = {{"y", Access::write}};
constexpr Attribute kAttributes[] = {
    {"position", AttributeType::param_i32, offsetof(RopeForm, position)},
    {"base", AttributeType::param_f32, offsetof(RopeForm, base)},
    {"scale", AttributeType::param_f32, offsetof(RopeForm, scale)},
    {"dims", AttributeType::i32, offsetof(RopeForm, dims)},
    {"pairing", AttributeType::i32, offsetof(RopeForm, pairing)}};
constexpr std::string_view kShaders[] = {"rope"};

// Mirrors the push block of shaders/rope.comp.
struct Push {
  std::array<std::uint32_t, 4> shape;
  View x;
  Param<std::int32_t> position;
  std::uint32_t pairs;
  std::uint32_t half_split;
  std::uint32_t given;  // bit 0: positions, bit 1: factors
  std::uint32_t positions_offset;
  std::uint32_t factors_offset;
  RopePush angles;
};

void require_vector(const OpCall& call, std::size_t operand, std::int64_t elements) {
  if (!call.inputs[operand]) {
    return;
  }
  require_rank(call, operand, 1);
  if (call.inputs[operand].shape().back() != elements) {
    invalid("rope needs (" + std::to_string(elements) + ") elements for " + describe(call, 0) +
            ", but got " + describe(call, operand) + ".");
  }
}

Outputs infer(const OpCall& call) {
  const RopeForm& form = call.as<RopeForm>();
  require_rank(call, 0, 3);
  const Shape& x = call.inputs[0].shape();
  const std::int64_t dims = form.rotated(x);
  if (dims < 2 || dims % 2 != 0 || dims > x.back()) {
    invalid("rope needs an even number of dims from 2 to (" + std::to_string(x.back()) + ") for " +
            describe(call, 0) + ", but got (" + std::to_string(dims) + ").");
  }
  const float base = form.base.value;
  const float scale = form.scale.value;
  if (!form.base.dynamic() && (!(base >= 1) || !std::isfinite(base))) {
    invalid("rope needs a finite base of at least 1, but got (" + std::to_string(base) + ").");
  }
  if (!form.scale.dynamic() && (!(scale > 0) || !std::isfinite(scale))) {
    invalid("rope needs a finite scale above 0, but got (" + std::to_string(scale) + ").");
  }
  if (form.pairing != RopePairing::interleaved && form.pairing != RopePairing::half_split) {
    invalid("rope knows the pairings interleaved (0) and half_split (1), but got (" +
            std::to_string(static_cast<std::int32_t>(form.pairing)) + ").");
  }
  require_vector(call, 1, x.dim(0));
  require_vector(call, 2, dims / 2);
  require_pair(!call.inputs[2] || call.inputs[2].shape().fixed(), call,
               "a fixed number of frequency factors", 0, 2);
  return TensorSpec{x, DType::f32};
}

Cost cost(const BoundCall& call) {
  return streaming_cost(call, 3 * static_cast<std::uint64_t>(call.tensors[0].shape().elements()));
}

void reference(const HostCall& call) {
  const RopeForm& form = call.as<RopeForm>();
  const HostTensor& x = call.tensors[0];
  const HostTensor& positions = call.tensors[1];
  const HostTensor& factors = call.tensors[2];
  const HostTensor& y = call.tensors[3];
  const std::int64_t dims = form.rotated(x.shape());
  const bool half_split = form.pairing == RopePairing::half_split;
  const auto first = static_cast<std::uint32_t>(call.value(form.position));
  const auto base = static_cast<double>(usable_base(call.value(form.base)));
  const auto scale = static_cast<double>(usable_scale(call.value(form.scale)));
  for_each_row(x.shape(), [&](std::int64_t, std::int64_t row, std::int64_t head) {
    const std::int64_t from = x.row(0, row, head);
    const std::int64_t to = y.row(0, row, head);
    const std::int64_t position =
        positions ? positions.load_integer(row)
                  : static_cast<std::int32_t>(first + static_cast<std::uint32_t>(row));
    for (std::int64_t i = 0; i < dims / 2; ++i) {
      const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(dims);
      double angle = static_cast<double>(position) * scale * std::pow(base, exponent);
      if (factors) {
        const auto factor = static_cast<float>(factors.load(i));
        angle = factor > 0 && std::isnormal(factor) ? angle / static_cast<double>(factor) : 0.0;
      }
      const std::int64_t a = half_split ? i : 2 * i;
      const std::int64_t b = half_split ? i + dims / 2 : 2 * i + 1;
      const double xa = x.load(from + a);
      const double xb = x.load(from + b);
      y.store(to + a, xa * std::cos(angle) - xb * std::sin(angle));
      y.store(to + b, xa * std::sin(angle) + xb * std::cos(angle));
    }
    for (std::int64_t i = dims; i < x.shape().back(); ++i) {
      y.store(to + i, x.load(from + i));
    }
  });
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const RopeForm& form = call.as<RopeForm>();
  const BoundTensor& x = call.tensors[0];
  const BoundTensor& positions = call.tensors[1];
  const BoundTensor& factors = call.tensors[2];
  const std::uint32_t pairs = word(form.rotated(x.shape()) / 2);
  const Push push{.shape = shape_words(x.shape()),
                  .x = view_of(x, traits),
                  .position = form.position,
                  .pairs = pairs,
                  .half_split = form.pairing == RopePairing::half_split ? 1U : 0U,
                  .given = (positions ? 1U : 0U) | (factors ? 2U : 0U),
                  .positions_offset = positions ? view_of(positions, traits).offset : 0U,
                  .factors_offset = factors ? view_of(factors, traits).offset : 0U,
                  .angles = RopePush(form, pairs)};
  word(x.shape().elements());
  const std::uint32_t heads = rope_heads(traits);
  steps.dispatch(
      call, traits, {"rope", {traits.workgroup_size, heads}, 2},
      groups_for({x.shape(), rope_invocations(x.shape(), pairs, heads)}, traits.workgroup_size),
      push);
}

}  // namespace

extern const OpDef rope_def;
const OpDef rope_def{.name = "rope",
                     .family = OpFamily::attention,
                     .operands = kOperands,
                     .results = kResults,
                     .attributes = kAttributes,
                     .push_bytes = sizeof(Push),
                     .shaders = kShaders,
                     .infer = infer,
                     .cost = cost,
                     .reference = reference,
                     .lower = lower,
                     .extents = ExtentRule::elements};

}  // namespace reprise::ops

namespace reprise {

Tensor rope(Site site, TensorRef x, RopeAttributes a) {
  return record(site, ops::rope_def, {x, TensorRef(a.positions), TensorRef(a.frequency_factors)},
                ops::RopeForm(a));
}

}  // namespace reprise
