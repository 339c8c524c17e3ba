// y = x, contiguous, as another type if asked: one invocation copies one element.
// Reads one element of x, writes one of y. Works on bits, so NaN and subnormals survive.
// variants: w32 w16 f32_f16 f16_f32
#version 450
#extension GL_GOOGLE_include_directive : require
#ifndef VARIANT_W32
#extension GL_EXT_shader_16bit_storage : require
#endif
#include "f16.glsl"
#include "index.glsl"
#include "view.glsl"

#if defined(VARIANT_W32)
#define FROM uint
#define TO uint
#define CONVERT(v) (v)
#elif defined(VARIANT_W16)
#define FROM uint16_t
#define TO uint16_t
#define CONVERT(v) (v)
#elif defined(VARIANT_F32_F16)
#define FROM uint
#define TO uint16_t
#define CONVERT(v) f32_bits_to_f16(v)
#else
#define FROM uint16_t
#define TO uint
#define CONVERT(v) f16_to_f32_bits(v)
#endif
layout(binding = 0) readonly buffer X { FROM x[]; };
layout(binding = 1) writeonly buffer Y { TO y[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View xv;
  uint elements;
};

void main() {
  uint i = linear_index();
  if (i < elements) {
    y[i] = TO(CONVERT(uint(x[at(xv, unflatten(i, shape))])));
  }
}
