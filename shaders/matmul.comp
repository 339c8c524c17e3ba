// y = x * w^T + residual: one invocation multiplies TILE rows of x with one row of w.
// Per 4 columns it reads TILE * 16 bytes of x and 16 (f32), 8 (f16), 4.25 (q8_0) or 2.25 (q4_0)
// bytes of w for TILE * 4 products. Weights are decoded to f32. The order of additions does not
// depend on TILE or the format, so every tile gives the same bits, and a format those of its decoded
// weights: explicit fma, four sums by column modulo 4.
// variants: f32 f16 q8_0 q4_0
#version 450
#extension GL_GOOGLE_include_directive : require
#if defined(VARIANT_F32)
#define WEIGHT float
#define TO_FLOAT(e) (e)
#elif defined(VARIANT_F16)
#extension GL_EXT_shader_16bit_storage : require
#define WEIGHT uint16_t
#define TO_FLOAT(e) unpackHalf2x16(uint(e)).x
#else
#define WEIGHT uint
#endif
#include "index.glsl"
#include "view.glsl"

layout(constant_id = 1) const uint TILE = 1;

layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer W { WEIGHT w[]; };
layout(binding = 2) readonly buffer Residual { float residual[]; };
layout(binding = 3) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View xv;
  View wv;
  View yv;
  uint share[2];
  uint k;
  uint adds;
  uint residual_offset;
};
#include "residual.glsl"

// Element `p` of the product.
void store(uvec4 p, float product) {
  uint distance = distance_to(yv, p);
  y[yv.offset + distance] = with_residual(product, distance);
}

#ifdef TO_FLOAT
// Columns that are read at once, in fours.
const uint kFours = 1;
void load_weights(uint element, out vec4 values[kFours]) {
  uint e = wv.offset + element;
  values[0] = vec4(TO_FLOAT(w[e]), TO_FLOAT(w[e + 1u]), TO_FLOAT(w[e + 2u]), TO_FLOAT(w[e + 3u]));
}
float load_weight(uint element) { return TO_FLOAT(w[wv.offset + element]); }
#else
#define BLOCK_WORD(i) w[i]
#include "blocks.glsl"
const uint kFours = 8;
void load_weights(uint element, out vec4 values[kFours]) {
  load_block(block_of(wv.offset, element), values);
}
float load_weight(uint element) { return 0.0; }  // a row has whole blocks
#endif

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
  uint weight = distance_to(wv, uvec4(i0 / share[0], i1 / share[1], column, 0));
  uint from[TILE];
  vec4 sums[TILE];
  for (uint r = 0; r < TILE; ++r) {
    from[r] = at(xv, uvec4(i0, i1, min(first + r, shape[2] - 1u), 0));
    sums[r] = vec4(0.0);
  }
  uint whole = k - k % (4u * kFours);
  for (uint c = 0; c < whole; c += 4u * kFours) {
    vec4 b[kFours];
    load_weights(weight + c, b);
    for (uint i = 0; i < kFours; ++i) {
      for (uint r = 0; r < TILE; ++r) {
        uint e = from[r] + c + 4u * i;
        sums[r] = fma(vec4(x[e], x[e + 1u], x[e + 2u], x[e + 3u]), b[i], sums[r]);
      }
    }
  }
  for (uint c = whole; c < k; ++c) {
    float b = load_weight(weight + c);
    for (uint r = 0; r < TILE; ++r) {
      sums[r].x = fma(x[from[r] + c], b, sums[r].x);
    }
  }
  for (uint r = 0; r < TILE; ++r) {
    if (first + r < shape[2]) {
      store(uvec4(i0, i1, first + r, column),
            (sums[r].x + sums[r].y) + (sums[r].z + sums[r].w));
    }
  }
}
