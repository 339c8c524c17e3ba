// softmax(scale * q * k^T + mask) * v with one pass over the keys (online softmax): one invocation
// computes BLOCK values of one row and head. Reads every key of its kv head and BLOCK values of
// each, so scores are recomputed once per block; writes 4 bytes per value.
// Explicit fma: the bits do not depend on BLOCK.
// variants: f32 f16 f32_mask16 f16_mask16
#version 450
#extension GL_GOOGLE_include_directive : require
#if !defined(VARIANT_F32)
#extension GL_EXT_shader_16bit_storage : require
#endif
#if defined(VARIANT_F16) || defined(VARIANT_F16_MASK16)
#define ELEMENT uint16_t
#define TO_FLOAT(e) unpackHalf2x16(uint(e)).x
#else
#define ELEMENT float
#define TO_FLOAT(e) (e)
#endif
#if defined(VARIANT_F32_MASK16) || defined(VARIANT_F16_MASK16)
#define MASK uint16_t
#define MASK_BITS(e) uint(e)
#define MASK_FLOAT(bits) unpackHalf2x16(bits).x
#define MINUS_INFINITY 0xFC00u
#else
#define MASK uint
#define MASK_BITS(e) (e)
#define MASK_FLOAT(bits) uintBitsToFloat(bits)
#define MINUS_INFINITY 0xFF800000u
#endif
#define STATE_BINDING 5
#include "exp.glsl"
#include "index.glsl"
#include "state.glsl"
#include "view.glsl"

layout(constant_id = 1) const uint BLOCK = 16;  // a multiple of 4

layout(binding = 0) readonly buffer Q { float q[]; };
layout(binding = 1) readonly buffer K { ELEMENT k[]; };
layout(binding = 2) readonly buffer V { ELEMENT v[]; };
layout(binding = 3) readonly buffer M { MASK mask[]; };
layout(binding = 4) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push {
  View qv;
  View kv;
  View vv;
  uint mask_offset;
  uint mask_stride;
  uint mask_columns;
  Param row_count;
  uint heads;
  uint share;
  uint dim;
  uint value_dim;
  uint capacity;
  Param kv_len;
  Param scale;
  uint flags;
};

uint rows;  // of q

float score(uint query, uint key, float factor) {
  vec4 sums = vec4(0.0);
  uint whole = dim & ~3u;
  for (uint d = 0; d < whole; d += 4u) {
    uint a = query + d;
    uint b = key + d;
    sums = fma(vec4(q[a], q[a + 1u], q[a + 2u], q[a + 3u]),
               vec4(TO_FLOAT(k[b]), TO_FLOAT(k[b + 1u]), TO_FLOAT(k[b + 2u]), TO_FLOAT(k[b + 3u])),
               sums);
  }
  for (uint d = whole; d < dim; ++d) {
    sums.x = fma(q[query + d], TO_FLOAT(k[key + d]), sums.x);
  }
  return ((sums.x + sums.y) + (sums.z + sums.w)) * factor;
}

void main() {
  rows = param_bits(row_count);
  uint index = linear_index();
  uint blocks = (value_dim + BLOCK - 1u) / BLOCK;
  uint first = index % blocks * BLOCK;
  uint head = index / blocks % heads;
  uint row = index / blocks / heads;
  if (row >= rows) {
    return;
  }
  int used = clamp(param_int(kv_len), 0, int(capacity));
  int seen = (flags & 1u) != 0u ? clamp(used - int(rows) + int(row) + 1, 0, used) : used;
  bool masked = (flags & 2u) != 0u;
  float factor = param_float_or_value(scale);
  if (masked) {
    seen = min(seen, int(mask_columns));
  }
  uint query = at(qv, uvec4(0, row, head, 0));
  uint mask_row = mask_offset + row * mask_stride;
  vec4 sums[BLOCK / 4u];
  for (uint c = 0; c < BLOCK / 4u; ++c) {
    sums[c] = vec4(0.0);
  }
  float best = 0.0;
  float total = 0.0;
  for (uint j = 0; j < uint(seen); ++j) {
    float s = score(query, at(kv, uvec4(0, j, head / share, 0)), factor);
    if (masked) {
      uint bits = MASK_BITS(mask[mask_row + j]);
      if (bits == MINUS_INFINITY) {
        continue;
      }
      s += MASK_FLOAT(bits);
    }
    if (total == 0.0) {
      best = s;
    } else if (s > best) {
      float shrink = exp_f32(best - s);
      total *= shrink;
      for (uint c = 0; c < BLOCK / 4u; ++c) {
        sums[c] *= shrink;
      }
      best = s;
    }
    float weight = exp_f32(s - best);
    total += weight;
    uint value = at(vv, uvec4(0, j, head / share, 0));
    for (uint c = 0; c < BLOCK / 4u; ++c) {
      uvec4 e = value + min(first + 4u * c + uvec4(0, 1, 2, 3), uvec4(value_dim - 1u));
      vec4 values =
          vec4(TO_FLOAT(v[e.x]), TO_FLOAT(v[e.y]), TO_FLOAT(v[e.z]), TO_FLOAT(v[e.w]));
      sums[c] = fma(vec4(weight), values, sums[c]);
    }
  }
  uint to = (row * heads + head) * value_dim;
  for (uint c = 0; c < BLOCK; ++c) {
    if (first + c < value_dim) {
      y[to + first + c] = total == 0.0 ? 0.0 : sums[c / 4u][c % 4u] / total;
    }
  }
}
