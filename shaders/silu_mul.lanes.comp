// y = gate / (1 + exp(-gate)) * up where gate and up have the order of y: one invocation computes 4
// elements, for drivers that fetch texels as vectors.
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_GOOGLE_include_directive : require
#include "exp.glsl"
#include "index.glsl"
#include "silu.glsl"
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
  uvec4 bits = floatBitsToUint(
      vec4(silu_mul(g.x, u.x), silu_mul(g.y, u.y), silu_mul(g.z, u.z), silu_mul(g.w, u.w)));
  y[2u * i] = packUint2x32(bits.xy);
  y[2u * i + 1u] = packUint2x32(bits.zw);
}
