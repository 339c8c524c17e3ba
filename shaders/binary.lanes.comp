// z[i] = combine(x[i], y[i]) where x and y have the order of z: one invocation computes 4 elements,
// for drivers that fetch texels as vectors.
// variants: add div mul sub
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_GOOGLE_include_directive : require
#include "binary.glsl"
#include "index.glsl"
#include "texels.glsl"
#include "view.glsl"

TEXELS(0, x);
TEXELS(1, y);
layout(binding = 2) writeonly buffer Z { uint64_t z[]; };  // a store costs the same at any width
layout(push_constant) uniform Push {
  uint shape[4];
  uint y_shape[4];
  View xv;
  View yv;
  uint elements;
};

void main() {
  uint i = linear_index();
  if (i >= elements / kTexelFloats) {
    return;
  }
  vec4 a = floats_at(x, xv.offset / kTexelFloats + i);
  vec4 b = floats_at(y, yv.offset / kTexelFloats + i);
  uvec4 bits = floatBitsToUint(
      vec4(combine(a.x, b.x), combine(a.y, b.y), combine(a.z, b.z), combine(a.w, b.w)));
  z[2u * i] = packUint2x32(bits.xy);
  z[2u * i + 1u] = packUint2x32(bits.zw);
}
