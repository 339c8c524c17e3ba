#include "reprise/ops/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "framework/core/record.h"
#include "framework/ops/push_block.h"
#include "framework/ops/rope_form.h"
#include "framework/ops/schema.h"

namespace reprise::ops {
namespace {

constexpr DTypeSet kFloats = accepts({DType::f32, DType::f16});
constexpr Operand kOperands[] = {{"x", Access::read, kFloats, false, Layout::rows},
                                 {"positions", Access::read, accepts({DType::i32}), true},
                                 {"frequency_factors", Access::read, accepts({DType::f32}), true}};
constexpr Operand kResults[] = {{"y", Access::write, accepts({DType::f32, DType::f16})}};
constexpr std::size_t kSections = offsetof(RopeForm, sections);
constexpr Attribute kAttributes[] = {
    {"position", AttributeType::param_i32, offsetof(RopeForm, angles.position)},
    {"base", AttributeType::param_f32, offsetof(RopeForm, angles.base)},
    {"scale", AttributeType::param_f32, offsetof(RopeForm, angles.scale)},
    {"dims", AttributeType::i32, offsetof(RopeForm, angles.dims)},
    {"pairing", AttributeType::i32, offsetof(RopeForm, angles.pairing)},
    {"extrapolation", AttributeType::param_f32, offsetof(RopeForm, extrapolation)},
    {"ramp_first", AttributeType::param_i32, offsetof(RopeForm, ramp_first)},
    {"ramp_last", AttributeType::param_i32, offsetof(RopeForm, ramp_last)},
    {"magnitude", AttributeType::param_f32, offsetof(RopeForm, magnitude)},
    attribute_of("section_0", kSections, 0),
    attribute_of("section_1", kSections, 1),
    attribute_of("section_2", kSections, 2),
    attribute_of("section_3", kSections, 3)};
constexpr std::string_view kShaders[] = {"rope.f32", "rope.f16"};
constexpr std::int32_t kMaxRamp = 32767;
constexpr std::int32_t kMaxSection = 65535;  // half a word of the push block

// Mirrors the push block of shaders/rope.comp.
struct Push {
  std::array<std::uint32_t, 3> shape;
  std::uint32_t x_offset;
  std::array<std::uint32_t, 2> x_strides;
  Param<std::int32_t> position;
  std::uint32_t pairs;
  // Bit 0: positions, 1: factors, 2: half split, 3: sections; from bit 8 and 16 on the offsets of
  // the former two.
  std::uint32_t given;
  RopePush angles;
  Param<float> extrapolation;
  Param<std::int32_t> ramp_first;
  Param<std::int32_t> ramp_last;
  Param<float> magnitude;
  std::array<std::uint32_t, 2> sections;  // two in a word
};

void require_ramp(const OpCall& call, const RopeForm& form) {
  const float share = form.extrapolation.value;
  if (!form.extrapolation.dynamic() && !(share >= 0 && share <= 1)) {
    throw_invalid_argument("rope needs an extrapolation from 0 to 1, but got (", share, ") for ",
                           describe(call, 0), ".");
  }
  if (!form.magnitude.dynamic() && !std::isfinite(form.magnitude.value)) {
    throw_invalid_argument("rope needs a finite magnitude, but got (", form.magnitude.value,
                           ") for ", describe(call, 0), ".");
  }
  for (const Param<std::int32_t>& end : {form.ramp_first, form.ramp_last}) {
    if (!end.dynamic() && (end.value < 0 || end.value > kMaxRamp)) {
      throw_invalid_argument("rope needs a ramp within 0 to ", kMaxRamp, ", but got (", end.value,
                             ") for ", describe(call, 0), ".");
    }
  }
}

void require_positions(const OpCall& call, const RopeForm& form) {
  const TensorRef& positions = call.inputs[1];
  const Shape& x = call.inputs[0].shape();
  for (const std::int32_t section : form.sections) {
    if (section < 0 || section > kMaxSection) {
      throw_invalid_argument("rope needs sections from 0 to ", kMaxSection, ", but got (", section,
                             ") for ", describe(call, 0), ".");
    }
  }
  if (form.sectioned() && !positions) {
    throw_invalid_argument("rope needs positions for its sections, but got none for ",
                           describe(call, 0), ".");
  }
  if (!positions) {
    return;
  }
  require_rank(call, 1, form.sectioned() ? 2 : 1);
  require_pair(
      positions.shape().dim(0) == x.dim(0) && (!form.sectioned() || positions.shape().back() == 4),
      call, form.sectioned() ? "positions [rows, 4]" : "positions [rows]", 0, 1);
}

void require_factors(const OpCall& call, std::int64_t dims) {
  const TensorRef& factors = call.inputs[2];
  if (!factors) {
    return;
  }
  require_rank(call, 2, 1);
  if (factors.shape().back() != dims / 2) {
    throw_invalid_argument("rope needs (", dims / 2, ") elements for ", describe(call, 0),
                           ", but got ", describe(call, 2), ".");
  }
  require_pair(factors.shape().fixed(), call, "a fixed number of frequency factors", 0, 2);
}

Outputs infer(const OpCall& call) {
  const RopeForm& form = call.as<RopeForm>();
  const RopeAngles& angles = form.angles;
  require_rank(call, 0, 3);
  const Shape& x = call.inputs[0].shape();
  const std::int64_t dims = angles.rotated(x);
  if (dims < 2 || dims % 2 != 0 || dims > x.back()) {
    throw_invalid_argument("rope needs an even number of dims from 2 to (", x.back(), ") for ",
                           describe(call, 0), ", but got (", dims, ").");
  }
  const float base = angles.base.value;
  const float scale = angles.scale.value;
  if (!angles.base.dynamic() && (!(base >= 1) || !std::isfinite(base))) {
    throw_invalid_argument("rope needs a finite base of at least 1, but got (", base, ").");
  }
  if (!angles.scale.dynamic() && (!(scale > 0) || !std::isfinite(scale))) {
    throw_invalid_argument("rope needs a finite scale above 0, but got (", scale, ").");
  }
  if (angles.pairing != RopePairing::interleaved && angles.pairing != RopePairing::half_split) {
    throw_invalid_argument("rope knows the pairings interleaved (0) and half_split (1), but got (",
                           static_cast<std::int32_t>(angles.pairing), ").");
  }
  require_ramp(call, form);
  require_positions(call, form);
  require_factors(call, dims);
  return TensorSpec{x, call.inputs[0].dtype()};
}

// What stands for the scale of pair i, in float64.
class PairScale {
 public:
  PairScale(const HostCall& call, const RopeForm& form)
      : scale_(static_cast<double>(usable_scale(call.value(form.angles.scale)))),
        first_(std::clamp(call.value(form.ramp_first), 0, kMaxRamp)),
        last_(std::clamp(call.value(form.ramp_last), 0, kMaxRamp)) {
    const float share = call.value(form.extrapolation);
    share_ = share > 0 ? std::min(static_cast<double>(share), 1.0) : 0;
  }
  double of(std::int64_t i) const {
    const double along =
        static_cast<double>(i - first_) / static_cast<double>(std::max(last_ - first_, 1));
    const double kept = share_ * (1 - std::clamp(along, 0.0, 1.0));
    return scale_ * (1 - kept) + kept;
  }

 private:
  double scale_;
  double share_;
  std::int32_t first_, last_;
};

void reference(const HostCall& call) {
  const RopeForm& form = call.as<RopeForm>();
  const HostTensor& x = call.tensors[0];
  const HostTensor& positions = call.tensors[1];
  const HostTensor& factors = call.tensors[2];
  const HostTensor& y = call.tensors[3];
  const std::int64_t dims = form.angles.rotated(x.shape());
  const bool half_split = form.angles.pairing == RopePairing::half_split;
  const bool sectioned = form.sectioned();
  const auto first = static_cast<std::uint32_t>(call.value(form.angles.position));
  const auto base = static_cast<double>(usable_base(call.value(form.angles.base)));
  const auto magnitude = static_cast<double>(call.value(form.magnitude));
  const PairScale scale(call, form);
  for_each_row(x.shape(), [&](std::int64_t, std::int64_t row, std::int64_t head) {
    const std::int64_t from = x.row(0, row, head);
    const std::int64_t to = y.row(0, row, head);
    for (std::int64_t i = 0; i < dims / 2; ++i) {
      const std::int64_t position =
          sectioned   ? positions.load_integer(4 * row + form.section_of(i))
          : positions ? positions.load_integer(row)
                      : static_cast<std::int32_t>(first + static_cast<std::uint32_t>(row));
      const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(dims);
      double angle = static_cast<double>(position) * scale.of(i) * std::pow(base, exponent);
      if (factors) {
        const auto factor = static_cast<float>(factors.load(i));
        angle = factor > 0 && std::isnormal(factor) ? angle / static_cast<double>(factor) : 0.0;
      }
      const std::int64_t a = half_split ? i : 2 * i;
      const std::int64_t b = half_split ? i + dims / 2 : 2 * i + 1;
      const double xa = x.load(from + a);
      const double xb = x.load(from + b);
      const double sine = magnitude * std::sin(angle);
      const double cosine = magnitude * std::cos(angle);
      y.store(to + a, xa * cosine - xb * sine);
      y.store(to + b, xa * sine + xb * cosine);
    }
    for (std::int64_t i = dims; i < x.shape().back(); ++i) {
      y.store(to + i, x.load(from + i));
    }
  });
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const RopeForm& form = call.as<RopeForm>();
  const BoundTensor& x = call.tensors[0];
  const std::uint32_t pairs = word(form.angles.rotated(x.shape()) / 2);
  // Below kStorageAlignment / 4, so that each has a byte.
  const auto offset_of = [&](const BoundTensor& t) { return view_of(t, traits).offset; };
  const View view = view_of(x, traits);
  const auto shape = shape_words(x.shape());
  const auto section = [&](std::size_t i) { return static_cast<std::uint32_t>(form.sections[i]); };
  const Push push{.shape = {shape[1], shape[2], shape[3]},
                  .x_offset = view.offset,
                  .x_strides = {view.strides[1], view.strides[2]},
                  .position = form.angles.position,
                  .pairs = pairs,
                  .given = (call.tensors[1] ? 1U : 0U) | (call.tensors[2] ? 2U : 0U) |
                           (form.angles.pairing == RopePairing::half_split ? 4U : 0U) |
                           (form.sectioned() ? 8U : 0U) | offset_of(call.tensors[1]) << 8U |
                           offset_of(call.tensors[2]) << 16U,
                  .angles = RopePush(form.angles, pairs),
                  .extrapolation = form.extrapolation,
                  .ramp_first = form.ramp_first,
                  .ramp_last = form.ramp_last,
                  .magnitude = form.magnitude,
                  .sections = {section(0) | section(1) << 16U, section(2) | section(3) << 16U}};
  indexable_elements(x);
  dispatch_rotation(call, traits, steps, x.dtype(), x.shape(), pairs, push);
}

// The pair that turns `turns` times within the context (section 3.2).
double pair_of_turns(double turns, const YarnScaling& yarn, double dims, double base) {
  return dims * std::log(yarn.context / (turns * 2 * std::numbers::pi)) / (2 * std::log(base));
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
                     .cost = cost_per_element<3>,
                     .reference = reference,
                     .lower = lower,
                     .extents = ExtentRule::elements};

}  // namespace reprise::ops

namespace reprise {

Tensor rope(Site site, TensorRef x, RopeAttributes a) {
  return record(site, ops::rope_def, {x, a.positions, a.frequency_factors}, ops::RopeForm(a));
}

RopeAttributes with_yarn(RopeAttributes a, std::int64_t dims, const YarnScaling& yarn) {
  if (a.base.dynamic() || a.scale.dynamic()) {
    throw_invalid_argument("with_yarn needs a constant base and scale, but got one of the state.");
  }
  if (yarn.context <= 0 || !(yarn.beta_fast > 0) || !(yarn.beta_slow > 0) || !(a.base.value > 1) ||
      !(a.scale.value > 0) || dims < 2) {
    throw_invalid_argument(
        "with_yarn needs a context, betas, scale and dims above 0 and a base above 1, but got (",
        yarn.context, ", ", yarn.beta_fast, ", ", yarn.beta_slow, ", ", a.scale.value, ", ", dims,
        ", ", a.base.value, ").");
  }
  const auto base = static_cast<double>(a.base.value);
  const auto all = static_cast<double>(dims);
  const auto ramp_at = [&](double pair, double max) {
    return static_cast<std::int32_t>(std::clamp(pair, 0.0, std::min(max, double{ops::kMaxRamp})));
  };
  const auto pair_of = [&](float beta) {
    return ops::pair_of_turns(static_cast<double>(beta), yarn, all, base);
  };
  a.ramp_first = ramp_at(std::floor(pair_of(yarn.beta_fast)), all);
  a.ramp_last = ramp_at(std::ceil(pair_of(yarn.beta_slow)), all - 1);
  a.extrapolation = yarn.extrapolation;
  const double stretch =
      yarn.extrapolation == 0 ? 0 : -std::log(static_cast<double>(a.scale.value));
  a.magnitude = static_cast<float>(static_cast<double>(yarn.magnitude) * (1 + 0.1 * stretch));
  return a;
}

}  // namespace reprise
