// softmax(score of q * k^T) * v with one pass over the keys (online softmax): one invocation
// computes BLOCK values of one row and head. Reads every key of its kv head and BLOCK values of
// each, so scores are recomputed once per block; writes 4 bytes per value.
// Explicit fma: the bits do not depend on BLOCK.
// variants: f32 f16 q8_0 f32_mask16 f16_mask16 q8_0_mask16
#version 450
#extension GL_GOOGLE_include_directive : require
#if defined(VARIANT_F16) || defined(VARIANT_F16_MASK16)
#define ELEMENT uint16_t
#define TO_FLOAT(e) unpackHalf2x16(uint(e)).x
#elif defined(VARIANT_Q8_0) || defined(VARIANT_Q8_0_MASK16)
#define ELEMENT uint
#define BLOCKS
#undef VARIANT_Q8_0
#define VARIANT_Q8_0
#else
#define ELEMENT float
#define TO_FLOAT(e) (e)
#endif
#if defined(VARIANT_F32_MASK16) || defined(VARIANT_F16_MASK16) || defined(VARIANT_Q8_0_MASK16)
#define MASK uint16_t
#define MASK_FLOAT(bits) unpackHalf2x16(bits).x
#define HIDDEN 0xFC00u
#else
#define NO_MASK16
#define MASK uint
#define MASK_FLOAT(bits) uintBitsToFloat(bits)
#define HIDDEN 0xFF800000u
#endif
#if defined(VARIANT_F16) || !defined(NO_MASK16)
#extension GL_EXT_shader_16bit_storage : require
#endif
#define STATE_BINDING 6
#include "exp.glsl"
#include "index.glsl"
#include "state.glsl"

layout(constant_id = 1) const uint BLOCK = 16;  // a multiple of 4
layout(constant_id = 2) const uint FEATURES = 7;

layout(binding = 0) readonly buffer Q { float q[]; };
layout(binding = 1) readonly buffer K { ELEMENT k[]; };
layout(binding = 2) readonly buffer V { ELEMENT v[]; };
layout(binding = 3) readonly buffer M { MASK mask[]; };
layout(binding = 4) readonly buffer S { float sinks[]; };
layout(binding = 5) writeonly buffer Y { float y[]; };
#include "attention.glsl"
#ifdef BLOCKS
#include "q8_four.glsl"
#endif

bool load_mask(uint row, uint key, out float value) {
  uint bits = uint(mask[mask_offset + row * mask_stride + key]);
  value = MASK_FLOAT(bits);
  return bits != HIDDEN;
}

#ifdef BLOCKS
Q8_FOUR(block_key, k)
Q8_FOUR(block_value_four, v)
vec4 key_four(uint e) { return block_key(kv.offset, e); }
float key_element(uint e) { return 0.0; }  // rows have whole fours
vec4 value_four(uint e, uint last) { return block_value_four(vv.offset, min(e, last & ~3u)); }
#else
vec4 key_four(uint e) {
  uint i = kv.offset + e;
  return vec4(TO_FLOAT(k[i]), TO_FLOAT(k[i + 1u]), TO_FLOAT(k[i + 2u]), TO_FLOAT(k[i + 3u]));
}
float key_element(uint e) { return TO_FLOAT(k[kv.offset + e]); }
vec4 value_four(uint e, uint last) {
  uvec4 i = vv.offset + min(e + uvec4(0, 1, 2, 3), uvec4(last));
  return vec4(TO_FLOAT(v[i.x]), TO_FLOAT(v[i.y]), TO_FLOAT(v[i.z]), TO_FLOAT(v[i.w]));
}
#endif

float product(uint query, uint key) {
  vec4 sums = vec4(0.0);
  uint whole = dim & ~3u;
  for (uint d = 0; d < whole; d += 4u) {
    uint a = query + d;
    sums = fma(vec4(q[a], q[a + 1u], q[a + 2u], q[a + 3u]), key_four(key + d), sums);
  }
  for (uint d = whole; d < dim; ++d) {
    sums.x = fma(q[query + d], key_element(key + d), sums.x);
  }
  return (sums.x + sums.y) + (sums.z + sums.w);
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
  uint seen = seen_by(row);
  Scoring scoring = scoring_of(head);
  uint query = place_in(qv, row, head);
  vec4 sums[BLOCK / 4u];
  for (uint c = 0; c < BLOCK / 4u; ++c) {
    sums[c] = vec4(0.0);
  }
  float best;
  float total;
  begin_row(head, 0.0, best, total);
  for (uint j = first_seen(row); j < seen; ++j) {
    float s = product(query, distance_in(kv, j, head / share));
    if (!finish_score(scoring, row, j, s)) {
      continue;
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
    uint value = distance_in(vv, j, head / share);
    for (uint c = 0; c < BLOCK / 4u; ++c) {
      vec4 values = value_four(value + first + 4u * c, value + value_dim - 1u);
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
