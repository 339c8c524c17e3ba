// A kernel of our own that does what rope does: GLSL for GPUs, a function for the CPU.
#pragma once
#include <cmath>

#include "reprise/reprise.h"

namespace tutorial {

/// What a call hands to the kernel. The position is a number or a field of the state.
struct RotatePush {
  reprise::Param<std::int32_t> position;  // of row 0
  std::uint32_t heads, half_dim, pairs;   // half_dim: pairs per head
};

inline const char* const kRotateGlsl = R"(
#version 450
#include "index.glsl"
#define STATE_BINDING 2
#include "state.glsl"
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push { Param position; uint heads, half_dim, pairs; };

void main() {
  uint i = linear_index();
  if (i < pairs) {
    uint row = i / (heads * half_dim);
    float turn = pow(10000.0, -float(i % half_dim) / float(half_dim));
    float angle = float(param_int(position) + int(row)) * turn;
    y[2 * i] = x[2 * i] * cos(angle) - x[2 * i + 1] * sin(angle);
    y[2 * i + 1] = x[2 * i] * sin(angle) + x[2 * i + 1] * cos(angle);
  }
}
)";

/// base: 10000, as in the GLSL; another one is the mistake of step 6.
inline reprise::KernelFunction rotate_function(float base) {
  return [base](const reprise::KernelRun& run) {
    const auto push = run.push<RotatePush>();
    const auto x = run.read<float>(0);
    const auto y = run.write<float>(1);
    const auto half_dim = static_cast<float>(push.half_dim);
    for (std::size_t i = 0; i < push.pairs; ++i) {
      const auto row = static_cast<std::int32_t>(i / push.half_dim / push.heads);
      const float turn = std::pow(base, -static_cast<float>(i % push.half_dim) / half_dim);
      const float angle = static_cast<float>(run.value(push.position) + row) * turn;
      y[2 * i] = x[2 * i] * std::cos(angle) - x[2 * i + 1] * std::sin(angle);
      y[2 * i + 1] = x[2 * i] * std::sin(angle) + x[2 * i + 1] * std::cos(angle);
    }
  };
}

inline reprise::CustomKernel rotate_kernel(const reprise::Device& device, float base = 10000) {
  const auto f32 = reprise::accepts({reprise::DType::f32});
  return device.compile_kernel(
      {.name = "rotate", .glsl = kRotateGlsl, .function = rotate_function(base)},
      {.bindings = {{"x", reprise::Access::read, f32}, {"y", reprise::Access::write, f32}},
       .push_bytes = sizeof(RotatePush),
       .fields = {{"position", reprise::AttributeType::param_i32, 0}},
       .constants = {{0, 64}}});  // invocations of a workgroup
}

/// x: [rows, heads, head_dim] f32. Returns the same shape.
inline reprise::Tensor rotate(const reprise::Site& site, const reprise::CustomKernel& kernel,
                              const reprise::Tensor& x,
                              const reprise::Param<std::int32_t>& position) {
  const auto heads = static_cast<std::uint32_t>(x.shape().dim(1));
  const auto half_dim = static_cast<std::uint32_t>(x.shape().dim(2) / 2);
  const auto pairs = static_cast<std::uint32_t>(x.shape().dim(0)) * heads * half_dim;
  return dispatch(site, kernel, {x}, {{x.shape(), reprise::DType::f32}},
                  RotatePush{position, heads, half_dim, pairs}, {(pairs + 63) / 64, 1, 1})[0];
}

}  // namespace tutorial
