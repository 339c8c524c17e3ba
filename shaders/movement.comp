// Elements of x, and of b for concat, in other places: one invocation moves one unit, an element or
// 2 bytes of a block. Reads one of them, writes one. Zeros are pad's where x has none.
// variants: concat/w16 concat/w32 concat/w64 pad/w16 pad/w32 pad/w64 repeat/w16 repeat/w32 repeat/w64
#version 450
#extension GL_GOOGLE_include_directive : require
#ifdef VARIANT_W16
#extension GL_EXT_shader_16bit_storage : require
#endif
#include "index.glsl"
#include "view.glsl"

#if defined(VARIANT_W16)
#define STORED uint16_t
#define UNIT uint
#elif defined(VARIANT_W32)
#define STORED uint
#define UNIT uint
#else
#define STORED uvec2
#define UNIT uvec2
#endif
layout(binding = 0) readonly buffer X { STORED x[]; };
#ifdef VARIANT_CONCAT
layout(binding = 1) readonly buffer B { STORED b[]; };
layout(binding = 2) writeonly buffer Y { STORED y[]; };
#else
layout(binding = 1) writeonly buffer Y { STORED y[]; };
#endif
layout(push_constant) uniform Push {
  uint shape[4];
  uint x_shape[4];
  View xv;
  View bv;
  uint before[4];
  uint dim;
  uint units;
};

// What belongs at index `p` of y.
UNIT found(uvec4 p) {
#if defined(VARIANT_CONCAT)
  if (p[dim] >= x_shape[dim]) {
    p[dim] -= x_shape[dim];
    return UNIT(b[at(bv, p)]);
  }
#elif defined(VARIANT_PAD)
  p -= uvec4(before[0], before[1], before[2], before[3]);  // below 0 it is larger than any extent
  for (uint i = 0; i < 4u; ++i) {
    if (p[i] >= x_shape[i]) {
      return UNIT(0u);
    }
  }
#else
  p %= uvec4(x_shape[0], x_shape[1], x_shape[2], x_shape[3]);
#endif
  return UNIT(x[at(xv, p)]);
}

void main() {
  uint i = linear_index();
  if (i < units) {
    y[i] = STORED(found(unflatten(i, shape)));
  }
}
