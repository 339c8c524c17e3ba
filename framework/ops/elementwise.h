// What ops that compute each element apart share: choosing their shaders, and all of ops with one
// operand, which add their name and their function.
#pragma once
#include "framework/ops/push_block.h"
#include "framework/ops/schema.h"

namespace reprise::ops {

/// Whether a lanes kernel can read the operand as texels of 4 elements in the order of memory.
bool in_whole_texels(const BoundTensor& tensor, const View& view);

/// y[i] = f(x[i]), computed in float64.
template <class F>
void unary_reference(const HostCall& call, const F& f) {
  float* to = elements_of<float>(call.tensors[1]);
  for_each_float_row(call.tensors[0], [&](const FloatRow& row) {
    for (std::int64_t c = 0; c < row.columns; ++c) {
      *to++ = static_cast<float>(f(static_cast<double>(row[c])));
    }
  });
}

Outputs unary_infer(const OpCall& call);
void unary_lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps);

// Mirrors the push block of shaders/include/unary.glsl, which ends with the attributes.
struct UnaryPush {
  StridedTensor x;
  std::uint32_t elements;
};

constexpr OpDef unary_def(std::string_view name, std::span<const std::string_view> shaders,
                          Cost (*cost)(const BoundCall&), void (*reference)(const HostCall&)) {
  return {.name = name,
          .family = OpFamily::elementwise,
          .operands = kStridedX,
          .results = kFloatY,
          .push_bytes = sizeof(UnaryPush),
          .shaders = shaders,
          .infer = unary_infer,
          .cost = cost,
          .reference = reference,
          .lower = unary_lower,
          .overwrites = 0,
          .extents = ExtentRule::elements};
}

}  // namespace reprise::ops
