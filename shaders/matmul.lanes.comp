// y = x * w^T: one invocation multiplies TILE rows of x with one row of w.
// Per 4 columns it takes TILE * 16 bytes of x and 16 (f32), 8 (f16), 4.25 (q8_0) or 2.25 (q4_0)
// bytes of w for TILE * 4 products. Weights are decoded to f32. The order of additions depends
// neither on TILE nor on the variant, so every tile gives the same bits, and a format those of its
// decoded weights: explicit fma, four sums by column modulo 4.
// The lanes_ variants are for drivers that run 8 invocations as one vector but read memory lane by
// lane: of 8 columns of x each lane reads one and hears the others from its neighbours, and w is
// read in 64-bit words. A workgroup is a subgroup of 8 there, and has the same rows of x.
// variants: f32 f16 q8_0 q4_0
#version 450
#extension GL_GOOGLE_include_directive : require
#if defined(VARIANT_F32) || defined(VARIANT_F16)
#define PLAIN
#endif

#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_KHR_shader_subgroup_ballot : require
#define WORD uint64_t
#define WIDE_WORD(i) w[i]
#include "index.glsl"
#include "view.glsl"

layout(constant_id = 1) const uint TILE = 1;

layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer W { WORD w[]; };
layout(binding = 2) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View xv;
  View wv;
  View yv;
  uint share[2];
  uint k;
};

#ifdef PLAIN
#include "wide_words.glsl"
#define ELEMENT(e) wide_element(e)
float load_weight(uint e) {
#ifdef VARIANT_F32
  return uintBitsToFloat(ELEMENT(e));
#else
  return unpackHalf2x16(ELEMENT(e)).x;
#endif
}
#else
#include "blocks.glsl"
#endif

uint from[TILE];  // the first element of each row of x
vec4 sums[TILE];

// Adds the products of 4 columns from c on.
void add_four(uint c, vec4 b) {
  for (uint r = 0; r < TILE; ++r) {
    uint e = from[r] + c;
    sums[r] = fma(vec4(x[e], x[e + 1u], x[e + 2u], x[e + 3u]), b, sums[r]);
  }
}

const uint kLanes = 8u;
// Adds the products of 8 columns from c on.
void add_eight(uint c, vec4 b0, vec4 b1) {
  for (uint r = 0; r < TILE; ++r) {
    float mine = x[from[r] + c + gl_SubgroupInvocationID];
    sums[r] = fma(vec4(subgroupBroadcast(mine, 0), subgroupBroadcast(mine, 1),
                       subgroupBroadcast(mine, 2), subgroupBroadcast(mine, 3)), b0, sums[r]);
    sums[r] = fma(vec4(subgroupBroadcast(mine, 4), subgroupBroadcast(mine, 5),
                       subgroupBroadcast(mine, 6), subgroupBroadcast(mine, 7)), b1, sums[r]);
  }
}

#ifdef PLAIN
void add_row(uint weight) {
  weight += wv.offset;
  uint c = 0;
  if (k >= 8u) {
    WideRow row = open_row(weight);
    for (; c + 8u <= k; c += 8u) {
      vec4 b[2];
      next_eight(row, b);
      add_eight(c, b[0], b[1]);
    }
  }
  for (; c + 4u <= k; c += 4u) {
    uint e = weight + c;
    add_four(c, vec4(load_weight(e), load_weight(e + 1u), load_weight(e + 2u),
                     load_weight(e + 3u)));
  }
  for (; c < k; ++c) {
    for (uint r = 0; r < TILE; ++r) {
      sums[r].x = fma(x[from[r] + c], load_weight(weight + c), sums[r].x);
    }
  }
}
#else
void add_row(uint weight) {
  uint block = block_of(wv.offset, weight);
  for (uint c = 0; c < k; c += 32u, block += kBlockHalves) {
    vec4 b[8];
    load_block(block, b);
    for (uint i = 0; i < 8u; i += 2u) {
      add_eight(c + 4u * i, b[i], b[i + 1u]);
    }
  }
}
#endif

void main() {
  uint index = linear_index();
  uint tiles = (shape[2] + TILE - 1u) / TILE;
  uint columns = (shape[3] + kLanes - 1u) / kLanes * kLanes;
  uint column = index % columns;
  uint rest = index / columns;
  uint first = rest % tiles * TILE;
  rest /= tiles;
  uint i1 = rest % shape[1];
  uint i0 = rest / shape[1];
  if (i0 >= shape[0]) {
    return;
  }
  for (uint r = 0; r < TILE; ++r) {
    from[r] = at(xv, uvec4(i0, i1, min(first + r, shape[2] - 1u), 0));
    sums[r] = vec4(0.0);
  }
  uint w_row = min(column, shape[3] - 1u);
  add_row(distance_to(wv, uvec4(i0 / share[0], i1 / share[1], w_row, 0)));
  for (uint r = 0; r < TILE; ++r) {
    if (first + r < shape[2] && column < shape[3]) {
      y[at(yv, uvec4(i0, i1, first + r, column))] =
          (sums[r].x + sums[r].y) + (sums[r].z + sums[r].w);
    }
  }
}
