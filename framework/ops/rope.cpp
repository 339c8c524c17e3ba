#include "reprise/ops/rope.h"

#include <cmath>
#include <numbers>

#include "framework/ops/schema.h"
#include "reprise/core/step.h"

namespace reprise::ops {
namespace {

// What is recorded: the tensors among RopeAttributes become operands.
struct Form {
  Param<std::int32_t> position;
  float base = 0;
  float scale = 0;
  std::int32_t dims = 0;
  RopePairing pairing = RopePairing::interleaved;
};

constexpr Operand kOperands[] = {{"x", Access::read, accepts({DType::f32}), false, Layout::rows},
                                 {"positions", Access::read, accepts({DType::i32}), true},
                                 {"frequency_factors", Access::read, accepts({DType::f32}), true}};
constexpr Operand kResults[] = {{"y", Access::write}};
constexpr Attribute kAttributes[] = {
    {"position", AttributeType::param_i32, offsetof(Form, position)},
    {"base", AttributeType::f32, offsetof(Form, base)},
    {"scale", AttributeType::f32, offsetof(Form, scale)},
    {"dims", AttributeType::i32, offsetof(Form, dims)},
    {"pairing", AttributeType::i32, offsetof(Form, pairing)}};
constexpr std::string_view kShaders[] = {"rope"};

// A 64-bit fraction, low word first: uvec2 of shaders/include/fraction.glsl.
using Fraction = std::array<std::uint32_t, 2>;

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
  Fraction ratio;  // base^(-2 / dims)
  Fraction turns;  // scale / (2 pi), as turns * 2^exponent
  std::int32_t exponent;
};

std::int64_t rotated(const Form& form, const Shape& x) {
  return form.dims == 0 ? x.back() : std::int64_t{form.dims};
}

// value in [0, 1]; 1 becomes the largest fraction.
Fraction fraction(double value) {
  const double scaled = std::ldexp(value, 64);
  const std::uint64_t bits =
      scaled >= 0x1p64 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(scaled);
  return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32U)};
}

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
  const Form& form = call.as<Form>();
  require_rank(call, 0, 3);
  const Shape& x = call.inputs[0].shape();
  const std::int64_t dims = rotated(form, x);
  if (dims < 2 || dims % 2 != 0 || dims > x.back()) {
    invalid("rope needs an even number of dims from 2 to (" + std::to_string(x.back()) + ") for " +
            describe(call, 0) + ", but got (" + std::to_string(dims) + ").");
  }
  if (!(form.base >= 1) || !std::isfinite(form.base)) {
    invalid("rope needs a finite base of at least 1, but got (" + std::to_string(form.base) + ").");
  }
  if (!(form.scale > 0) || !std::isfinite(form.scale)) {
    invalid("rope needs a finite scale above 0, but got (" + std::to_string(form.scale) + ").");
  }
  if (form.pairing != RopePairing::interleaved && form.pairing != RopePairing::half_split) {
    invalid("rope knows the pairings interleaved (0) and half_split (1), but got (" +
            std::to_string(static_cast<std::int32_t>(form.pairing)) + ").");
  }
  require_vector(call, 1, x.dim(0));
  require_vector(call, 2, dims / 2);
  return TensorSpec{x, DType::f32};
}

Cost cost(const BoundCall& call) {
  return streaming_cost(call, 3 * static_cast<std::uint64_t>(call.tensors[0].shape().elements()));
}

void reference(const HostCall& call) {
  const Form& form = call.as<Form>();
  const HostTensor& x = call.tensors[0];
  const HostTensor& positions = call.tensors[1];
  const HostTensor& factors = call.tensors[2];
  const HostTensor& y = call.tensors[3];
  const std::int64_t dims = rotated(form, x.shape());
  const bool half_split = form.pairing == RopePairing::half_split;
  const auto first = static_cast<std::uint32_t>(call.value(form.position));
  for_each_row(x.shape(), [&](std::int64_t, std::int64_t row, std::int64_t head) {
    const std::int64_t from = x.row(0, row, head);
    const std::int64_t to = y.row(0, row, head);
    const std::int64_t position =
        positions ? positions.load_integer(row)
                  : static_cast<std::int32_t>(first + static_cast<std::uint32_t>(row));
    for (std::int64_t i = 0; i < dims / 2; ++i) {
      const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(dims);
      double angle = static_cast<double>(position) * static_cast<double>(form.scale) *
                     std::pow(static_cast<double>(form.base), exponent);
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
  const Form& form = call.as<Form>();
  const BoundTensor& x = call.tensors[0];
  const BoundTensor& positions = call.tensors[1];
  const BoundTensor& factors = call.tensors[2];
  const std::int64_t dims = rotated(form, x.shape());
  const double step = -2.0 / static_cast<double>(dims);
  std::int32_t exponent = 0;
  const double turns =
      std::frexp(static_cast<double>(form.scale) / (2 * std::numbers::pi), &exponent);
  const Push push{.shape = shape_words(x.shape()),
                  .x = view_of(x, traits),
                  .position = form.position,
                  .pairs = word(dims / 2),
                  .half_split = form.pairing == RopePairing::half_split ? 1U : 0U,
                  .given = (positions ? 1U : 0U) | (factors ? 2U : 0U),
                  .positions_offset = positions ? view_of(positions, traits).offset : 0U,
                  .factors_offset = factors ? view_of(factors, traits).offset : 0U,
                  .ratio = fraction(std::pow(static_cast<double>(form.base), step)),
                  .turns = fraction(turns),
                  .exponent = exponent};
  word(x.shape().elements());
  // Where invocations run side by side, more of them are better than less work.
  constexpr std::uint32_t kMaxHeads = 8;
  const std::uint32_t heads = traits.cpu_type ? kMaxHeads : 1;
  const std::uint64_t groups = (push.shape[2] + heads - 1) / heads;
  const std::uint64_t tasks = push.shape[3] - push.pairs;
  steps.dispatch(call, traits, {"rope", {traits.workgroup_size, heads}, 2},
                 groups_for(push.shape[1] * groups * tasks, traits.workgroup_size), push);
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
                     .lower = lower};

}  // namespace reprise::ops

namespace reprise {

Tensor rope(Site site, TensorRef x, RopeAttributes a) {
  const ops::Form form{a.position, a.base, a.scale, a.dims, a.pairing};
  return record(site, ops::rope_def, {x, TensorRef(a.positions), TensorRef(a.frequency_factors)},
                form);
}

}  // namespace reprise
