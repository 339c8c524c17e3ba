// y = f(gate) * up where gate and up have the order of y: one invocation computes 4 elements, for
// drivers that fetch texels as vectors.
// variants: gelu_mul sigmoid_mul silu_mul
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_GOOGLE_include_directive : require
#include "gated.glsl"
#include "index.glsl"
#include "texels.glsl"
#include "view.glsl"

TEXELS(0, gate);
TEXELS(1, up);
layout(binding = 2) writeonly buffer Y { uint64_t y[]; };  // a store costs the same at any width
layout(push_constant) uniform Push {
  uint shape[4];
  View gv;
  View uv;
  uint joined;
};

void main() {
  uint i = linear_index();
  if (i >= shape[0] * shape[1] * shape[2] * shape[3] / kTexelFloats) {
    return;
  }
  vec4 g = floats_at(gate, gv.offset / kTexelFloats + i);
  vec4 u = floats_at(up, uv.offset / kTexelFloats + i);
  uvec4 bits =
      floatBitsToUint(vec4(gated(g.x, u.x), gated(g.y, u.y), gated(g.z, u.z), gated(g.w, u.w)));
  y[2u * i] = packUint2x32(bits.xy);
  y[2u * i + 1u] = packUint2x32(bits.zw);
}
