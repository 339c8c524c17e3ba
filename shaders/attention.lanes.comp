// softmax(score of q * k^T) * v with one pass over the keys (online softmax), for drivers that
// run a workgroup of 8 as one vector and fetch texels as vectors: one invocation computes ROWS rows
// of one head, its neighbours the next heads. Every texel of keys and values is fetched once for the
// ROWS rows, queries and sums stay in registers.
// variants: f32 f16 f32_mask16 f16_mask16
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_GOOGLE_include_directive : require
#if defined(VARIANT_F32_MASK16) || defined(VARIANT_F16_MASK16)
#extension GL_EXT_shader_16bit_storage : require
#define MASK uint16_t
#define MASK_FLOAT(bits) unpackHalf2x16(bits).x
#define HIDDEN 0xFC00u
#else
#define MASK uint
#define MASK_FLOAT(bits) uintBitsToFloat(bits)
#define HIDDEN 0xFF800000u
#endif
#define STATE_BINDING 6
#include "exp.glsl"
#include "index.glsl"
#include "state.glsl"
#include "texels.glsl"

layout(constant_id = 1) const uint ROWS_AND_FEATURES = 57;
const uint ROWS = ROWS_AND_FEATURES & 7u;
const uint FEATURES = ROWS_AND_FEATURES >> 3;
layout(constant_id = 2) const uint FOURS = 1;        // of a query and a key
layout(constant_id = 3) const uint VALUE_FOURS = 1;  // of a value

TEXELS(0, q);
TEXELS(1, k);
TEXELS(2, v);
layout(binding = 3) readonly buffer M { MASK mask[]; };
layout(binding = 4) readonly buffer S { float sinks[]; };
layout(binding = 5) writeonly buffer Y { float y[]; };
#include "attention.glsl"


bool load_mask(uint row, uint key, out float value) {
  uint bits = uint(mask[mask_offset + row * mask_stride + key]);
  value = MASK_FLOAT(bits);
  return bits != HIDDEN;
}

// Four neighbouring elements of keys or values.
vec4 four_at(utextureBuffer from, uint element) {
#if defined(VARIANT_F16) || defined(VARIANT_F16_MASK16)
  return halves_at(from, element);
#else
  return floats_at(from, element / kTexelFloats);
#endif
}

#define MINUS_INFINITY uintBitsToFloat(0xFF800000u)

void main() {
  rows = param_bits(row_count);
  uint index = linear_index();
  uint head = index % heads;
  uint first = index / heads * ROWS;
  if (first >= rows) {
    return;
  }
  Scoring scoring = scoring_of(head);
  uint longest = 0u;
  uint from[ROWS];
  uint seen[ROWS];
  vec4 queries[ROWS * FOURS];
  vec4 sums[ROWS * VALUE_FOURS];
  float best[ROWS];
  float total[ROWS];
  [[unroll]] for (uint r = 0; r < ROWS; ++r) {
    uint row = min(first + r, rows - 1u);
    from[r] = first_seen(row);
    seen[r] = seen_by(row);
    longest = max(longest, seen[r]);
    uint query = place_in(qv, row, head) / kTexelFloats;
    [[unroll]] for (uint d = 0; d < FOURS; ++d) {
      queries[r * FOURS + d] = floats_at(q, query + d);
    }
    [[unroll]] for (uint d = 0; d < VALUE_FOURS; ++d) {
      sums[r * VALUE_FOURS + d] = vec4(0.0);
    }
    begin_row(head, MINUS_INFINITY, best[r], total[r]);
  }
  for (uint j = from[0]; j < longest; ++j) {  // the first row sees the first key
    uint key = place_in(kv, j, head / share);
    vec4 dots[ROWS];
    [[unroll]] for (uint r = 0; r < ROWS; ++r) {
      dots[r] = vec4(0.0);
    }
    [[unroll]] for (uint d = 0; d < FOURS; ++d) {
      vec4 keys = four_at(k, key + 4u * d);
      [[unroll]] for (uint r = 0; r < ROWS; ++r) {
        dots[r] = fma(queries[r * FOURS + d], keys, dots[r]);
      }
    }
    float shrink[ROWS];
    float weight[ROWS];
    bool counted[ROWS];
    [[unroll]] for (uint r = 0; r < ROWS; ++r) {
      float s = (dots[r].x + dots[r].y) + (dots[r].z + dots[r].w);
      bool counts = j >= from[r] && j < seen[r];
      if (counts) {
        counts = finish_score(scoring, min(first + r, rows - 1u), j, s);
      }
      counted[r] = counts;
      // One of the two is exp(0).
      float above = s - best[r];
      float e = exp_f32(-abs(above));
      shrink[r] = counts && above > 0.0 ? e : 1.0;
      weight[r] = counts ? (above > 0.0 ? 1.0 : e) : 0.0;
      best[r] = counts ? max(best[r], s) : best[r];
      total[r] = fma(total[r], shrink[r], weight[r]);
    }
    uint value = place_in(vv, j, head / share);
    [[unroll]] for (uint d = 0; d < VALUE_FOURS; ++d) {
      vec4 values = four_at(v, value + 4u * d);
      [[unroll]] for (uint r = 0; r < ROWS; ++r) {
        uint i = r * VALUE_FOURS + d;
        // What a key that does not count holds may be NaN: a weight of 0 would not keep it out.
        vec4 own = counted[r] ? values : vec4(0.0);
        sums[i] = fma(own, vec4(weight[r]), sums[i] * shrink[r]);
      }
    }
  }
  [[unroll]] for (uint r = 0; r < ROWS; ++r) {
    uint to = ((first + r) * heads + head) * value_dim;
    float part = total[r] == 0.0 ? 0.0 : 1.0 / total[r];
    [[unroll]] for (uint d = 0; d < VALUE_FOURS; ++d) {
      vec4 result = sums[r * VALUE_FOURS + d] * part;
      if (first + r < rows) {
        y[to + 4u * d] = result.x;
        y[to + 4u * d + 1u] = result.y;
        y[to + 4u * d + 2u] = result.z;
        y[to + 4u * d + 3u] = result.w;
      }
    }
  }
}
