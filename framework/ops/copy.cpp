#include "reprise/ops/copy.h"

#include "framework/ops/schema.h"
#include "reprise/core/float16.h"
#include "reprise/core/step.h"

namespace reprise::ops {
namespace {

struct CopyAttributes {
  static constexpr std::int32_t kSame = -1;
  std::int32_t dtype = kSame;  // of the result, as the number of its DType
};

constexpr Operand kOperands[] = {
    {"x", Access::read, accepts({DType::f32, DType::f16, DType::i32}), false, Layout::any}};
constexpr Operand kResults[] = {{"y", Access::write}};
constexpr Attribute kAttributes[] = {
    {"dtype", AttributeType::i32, offsetof(CopyAttributes, dtype)}};
constexpr std::string_view kShaders[] = {"copy.w32", "copy.w16", "copy.f32_f16", "copy.f16_f32"};

// Mirrors the push block of shaders/copy.comp.
struct Push {
  std::array<std::uint32_t, 4> shape;
  View x;
  std::uint32_t elements;
};

Outputs infer(const OpCall& call) {
  const TensorRef& x = call.inputs[0];
  const std::int32_t wanted = call.as<CopyAttributes>().dtype;
  if (wanted < CopyAttributes::kSame || wanted >= static_cast<std::int32_t>(kDTypeCount)) {
    invalid("copy knows the dtypes 0 to " + std::to_string(kDTypeCount - 1) + ", but got (" +
            std::to_string(wanted) + ").");
  }
  const DType to = wanted == CopyAttributes::kSame ? x.dtype() : static_cast<DType>(wanted);
  const bool floats = (x.dtype() == DType::f32 && to == DType::f16) ||
                      (x.dtype() == DType::f16 && to == DType::f32);
  if (to != x.dtype() && !floats) {
    invalid("copy converts between f32 and f16 or keeps the dtype, but got " + describe(call, 0) +
            " and the dtype (" + std::string(name_of(to)) + ").");
  }
  return TensorSpec{x.shape(), to};
}

Cost cost(const BoundCall& call) { return streaming_cost(call, 0); }

template <class From, class To, class F>
void copy_elements(const HostTensor& x, const HostTensor& y, const F& convert) {
  const std::int64_t cols = x.shape().back();
  const std::int64_t stride = last_stride(x);
  To* to = elements_of<To>(y);
  for_each_row(x.shape(), [&](std::int64_t i0, std::int64_t i1, std::int64_t i2) {
    const From* from = elements_of<const From>(x) + x.row(i0, i1, i2);
    for (std::int64_t c = 0; c < cols; ++c) {
      *to++ = convert(from[c * stride]);
    }
  });
}

// Equal dtypes go through integers: a copy must not touch the bits of a NaN.
void reference(const HostCall& call) {
  const HostTensor& x = call.tensors[0];
  const HostTensor& y = call.tensors[1];
  const auto same = [](auto value) { return value; };
  if (x.dtype() != y.dtype()) {
    if (x.dtype() == DType::f32) {
      copy_elements<float, std::uint16_t>(x, y, f32_to_f16);
    } else {
      copy_elements<std::uint16_t, float>(x, y, f16_to_f32);
    }
  } else if (x.dtype() == DType::f16) {
    copy_elements<std::uint16_t, std::uint16_t>(x, y, same);
  } else {
    copy_elements<std::uint32_t, std::uint32_t>(x, y, same);
  }
}

std::string_view shader_for(DType from, DType to) {
  if (from == to) {
    return kShaders[from == DType::f16 ? 1 : 0];
  }
  return kShaders[from == DType::f32 ? 2 : 3];
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& x = call.tensors[0];
  indexable_elements(x);
  const Push push{shape_words(x.shape()), view_of(x, traits), indexable_elements(call.tensors[1])};
  steps.dispatch(call, traits,
                 {shader_for(x.dtype(), call.tensors[1].dtype()), {traits.workgroup_size}, 1},
                 groups_for({x.shape(), push.elements}, traits.workgroup_size), push);
}

}  // namespace

extern const OpDef copy_def;
const OpDef copy_def{.name = "copy",
                     .family = OpFamily::movement,
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

Tensor copy(Site site, TensorRef x) {
  return record(site, ops::copy_def, {x}, ops::CopyAttributes{});
}

Tensor cast(Site site, TensorRef x, DType dtype) {
  return record(site, ops::copy_def, {x}, ops::CopyAttributes{static_cast<std::int32_t>(dtype)});
}

}  // namespace reprise
