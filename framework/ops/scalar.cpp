#include "reprise/ops/scalar.h"

#include <cmath>

#include "framework/core/record.h"
#include "framework/ops/elementwise.h"

namespace reprise::ops {
namespace {

constexpr std::string_view kShaders[] = {"scalar.clamp", "scalar.scale", "scalar.softcap"};
constexpr Attribute kScale[] = {
    {"scale", AttributeType::param_f32, offsetof(ScaleAttributes, scale)},
    {"bias", AttributeType::param_f32, offsetof(ScaleAttributes, bias)}};
constexpr Attribute kClamp[] = {{"min", AttributeType::param_f32, offsetof(ClampAttributes, min)},
                                {"max", AttributeType::param_f32, offsetof(ClampAttributes, max)}};
constexpr Attribute kSoftcap[] = {
    {"cap", AttributeType::param_f32, offsetof(SoftcapAttributes, cap)}};

bool is_cap(float value) { return std::isnormal(value) && value > 0; }

Outputs infer_clamp(const OpCall& call) {
  const auto& a = call.as<ClampAttributes>();
  const bool nan = (!a.min.dynamic() && std::isnan(a.min.value)) ||
                   (!a.max.dynamic() && std::isnan(a.max.value));
  if (nan || (!a.min.dynamic() && !a.max.dynamic() && a.min.value > a.max.value)) {
    throw_invalid_argument("clamp needs a min that is at most max, but got (", a.min.value,
                           ") and (", a.max.value, ").");
  }
  return unary_infer(call);
}

Outputs infer_softcap(const OpCall& call) {
  const auto& cap = call.as<SoftcapAttributes>().cap;
  if (!cap.dynamic() && !is_cap(cap.value)) {
    throw_invalid_argument("softcap needs a normal number above 0 as cap, but got (", cap.value,
                           ").");
  }
  return unary_infer(call);
}

void scale_reference(const HostCall& call) {
  const auto& a = call.as<ScaleAttributes>();
  const double scale = static_cast<double>(call.value(a.scale));
  const double bias = static_cast<double>(call.value(a.bias));
  unary_reference(call, [=](double x) { return x * scale + bias; });
}

void clamp_reference(const HostCall& call) {
  const auto& a = call.as<ClampAttributes>();
  const double min = static_cast<double>(call.value(a.min));
  const double max = static_cast<double>(call.value(a.max));
  unary_reference(call, [=](double x) {
    const double above = x < min ? min : x;
    return above > max ? max : above;
  });
}

void softcap_reference(const HostCall& call) {
  const float value = call.value(call.as<SoftcapAttributes>().cap);
  const double cap = static_cast<double>(value);
  unary_reference(call, [=](double x) { return is_cap(value) ? cap * std::tanh(x / cap) : x; });
}

template <class A, std::uint64_t kOperations>
constexpr OpDef scalar_def(std::string_view name, std::span<const Attribute> attributes,
                           Outputs (*infer)(const OpCall&), void (*reference)(const HostCall&)) {
  OpDef op =
      unary_def(name, shaders_of(kShaders, name, 1), cost_per_element<kOperations>, reference);
  op.attributes = attributes;
  op.push_bytes += sizeof(A);
  op.infer = infer;
  return op;
}

}  // namespace

extern const OpDef clamp_def, scale_def, softcap_def;
constinit const OpDef clamp_def =
    scalar_def<ClampAttributes, 2>("clamp", kClamp, infer_clamp, clamp_reference);
constinit const OpDef scale_def =
    scalar_def<ScaleAttributes, 2>("scale", kScale, unary_infer, scale_reference);
constinit const OpDef softcap_def =
    scalar_def<SoftcapAttributes, 3>("softcap", kSoftcap, infer_softcap, softcap_reference);

}  // namespace reprise::ops

namespace reprise {

Tensor clamp(Site site, TensorRef x, ClampAttributes a) {
  return record(site, ops::clamp_def, {x}, a);
}
Tensor scale(Site site, TensorRef x, ScaleAttributes a) {
  return record(site, ops::scale_def, {x}, a);
}
Tensor softcap(Site site, TensorRef x, SoftcapAttributes a) {
  return record(site, ops::softcap_def, {x}, a);
}

}  // namespace reprise
