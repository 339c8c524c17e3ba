// What ops of two operands per element share: schema, shape rule, loop and lowering. An op adds its
// name and the scalar function, here for the reference and in its shader for devices.
#pragma once
#include "framework/ops/schema.h"
#include "reprise/core/step.h"

namespace reprise::ops {

Outputs elementwise_infer(const OpCall& call);
Cost elementwise_cost(const BoundCall& call);
void elementwise_lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps);

inline constexpr Operand kElementwiseOperands[] = {
    {"x", Access::read, accepts({DType::f32}), false, Layout::any},
    {"y", Access::read, accepts({DType::f32}), false, Layout::any}};
inline constexpr Operand kElementwiseResults[] = {{"z", Access::write}};

// Mirrors the push block of shaders/include/elementwise.glsl.
struct ElementwisePush {
  std::array<std::uint32_t, 4> shape;
  std::array<std::uint32_t, 4> y_shape;
  View x;
  View y;
  std::uint32_t elements;
};

/// Whether a lanes kernel can read the operand as texels of 4 elements in the order of memory.
bool in_whole_texels(const BoundTensor& tensor, const View& view);

/// An op with a shader of its name that includes elementwise.glsl, and one for lanes after it.
constexpr OpDef elementwise_def(std::string_view name, std::span<const std::string_view> shaders,
                                void (*reference)(const HostCall&)) {
  return {.name = name,
          .family = OpFamily::elementwise,
          .operands = kElementwiseOperands,
          .results = kElementwiseResults,
          .attributes = {},
          .push_bytes = sizeof(ElementwisePush),
          .shaders = shaders,
          .infer = elementwise_infer,
          .cost = elementwise_cost,
          .reference = reference,
          .lower = elementwise_lower,
          .overwrites = 0,
          .extents = ExtentRule::elements};
}

/// z[i] = f(x[i], y[i mod extents of y]), computed in float64.
template <class F>
void elementwise_reference(const HostCall& call, const F& f) {
  const HostTensor& x = call.tensors[0];
  const HostTensor& y = call.tensors[1];
  const auto dims = y.shape().padded();
  const std::int64_t cols = x.shape().back();
  const std::int64_t x_stride = last_stride(x);
  const std::int64_t y_stride = last_stride(y);
  float* to = elements_of<float>(call.tensors[2]);
  for_each_row(x.shape(), [&](std::int64_t i0, std::int64_t i1, std::int64_t i2) {
    const float* a = elements_of<const float>(x) + x.row(i0, i1, i2);
    const float* b = elements_of<const float>(y) + y.row(i0 % dims[0], i1 % dims[1], i2 % dims[2]);
    for (std::int64_t c = 0; c < cols; c += dims[3]) {
      for (std::int64_t d = 0; d < dims[3]; ++d) {
        *to++ = static_cast<float>(
            f(static_cast<double>(a[(c + d) * x_stride]), static_cast<double>(b[d * y_stride])));
      }
    }
  });
}

}  // namespace reprise::ops
