// y = x * w^T: one invocation multiplies TILE rows of x with one row of w.
// Per 4 columns it reads TILE * 16 bytes of x and 16 (f32) or 8 (f16) bytes of w for TILE * 4
// products. The order of additions does not depend on TILE, so every tile gives the same bits:
// explicit fma, four sums by column modulo 4.
// variants: f32 f16
#version 450
#extension GL_GOOGLE_include_directive : require
#if defined(VARIANT_F16)
#extension GL_EXT_shader_16bit_storage : require
#define WEIGHT uint16_t
#define TO_FLOAT(e) unpackHalf2x16(uint(e)).x
#else
#define WEIGHT float
#define TO_FLOAT(e) (e)
#endif
#include "index.glsl"
#include "view.glsl"

layout(constant_id = 1) const uint TILE = 1;

layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer W { WEIGHT w[]; };
layout(binding = 2) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View xv;
  View wv;
  View yv;
  uint share[2];
  uint k;
};

void main() {
  uint index = linear_index();
  uint tiles = (shape[2] + TILE - 1u) / TILE;
  uint column = index % shape[3];
  uint rest = index / shape[3];
  uint first = rest % tiles * TILE;
  rest /= tiles;
  uint i1 = rest % shape[1];
  uint i0 = rest / shape[1];
  if (i0 >= shape[0]) {
    return;
  }
  uint weight = at(wv, uvec4(i0 / share[0], i1 / share[1], column, 0));
  uint from[TILE];
  vec4 sums[TILE];
  for (uint r = 0; r < TILE; ++r) {
    from[r] = at(xv, uvec4(i0, i1, min(first + r, shape[2] - 1u), 0));
    sums[r] = vec4(0.0);
  }
  uint whole = k & ~3u;
  for (uint c = 0; c < whole; c += 4u) {
    vec4 b = vec4(TO_FLOAT(w[weight + c]), TO_FLOAT(w[weight + c + 1u]),
                  TO_FLOAT(w[weight + c + 2u]), TO_FLOAT(w[weight + c + 3u]));
    for (uint r = 0; r < TILE; ++r) {
      uint e = from[r] + c;
      sums[r] = fma(vec4(x[e], x[e + 1u], x[e + 2u], x[e + 3u]), b, sums[r]);
    }
  }
  for (uint c = whole; c < k; ++c) {
    float b = TO_FLOAT(w[weight + c]);
    for (uint r = 0; r < TILE; ++r) {
      sums[r].x = fma(x[from[r] + c], b, sums[r].x);
    }
  }
  for (uint r = 0; r < TILE; ++r) {
    if (first + r < shape[2]) {
      y[at(yv, uvec4(i0, i1, first + r, column))] =
          (sums[r].x + sums[r].y) + (sums[r].z + sums[r].w);
    }
  }
}
