// softmax(score of q * k^T) * v with one pass over the keys (online softmax), for GPUs: a
// workgroup of 256 invocations computes ROWS rows of one head, 256 / ROWS keys at a time.
// 1. Scores: 4 invocations share a key, 16 bytes of it each in turn, for all rows.
// 2. Weights: one invocation per row and key. The rows' largest scores are found by subgroup and
//    combined in shared memory.
// 3. Values: an invocation has 4 of them and every n-th four of the keys, for all rows.
// The sums of 3 are combined at the end. Every key and value is read once per workgroup, 16 * ROWS
// operations per 4 columns of it. A key that a row does not see cannot change it, whatever it holds.
// Shared memory: 6 KiB, and ROWS queries.
// variants: f32 f16 q8_0 f32_mask16 f16_mask16 q8_0_mask16
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#if defined(VARIANT_F16) || defined(VARIANT_F16_MASK16)
#define HALF_CACHE
#define KEYS uvec4
#define VALUES uvec2
#elif defined(VARIANT_Q8_0) || defined(VARIANT_Q8_0_MASK16)
#define BLOCKS
#undef VARIANT_Q8_0
#define VARIANT_Q8_0
#define KEYS uint
#define VALUES uint
#else
#define KEYS uvec4
#define VALUES uvec4
#endif
#if defined(VARIANT_F32_MASK16) || defined(VARIANT_F16_MASK16) || defined(VARIANT_Q8_0_MASK16)
#define HALF_MASK
#endif
#define STATE_BINDING 6
#include "exp.glsl"
#include "index.glsl"
#include "group.glsl"
#include "state.glsl"

layout(constant_id = 1) const uint ROWS = 1;   // a power of two, at most 4
layout(constant_id = 2) const uint FOURS = 2;  // fours of columns of q and k, in whole units of k
layout(constant_id = 3) const uint WIDE_AND_FEATURES = 14;
const bool WIDE = (WIDE_AND_FEATURES & 1u) != 0u;
const uint FEATURES = WIDE_AND_FEATURES >> 1;

layout(binding = 0) readonly buffer Q { float q[]; };
layout(binding = 1) readonly buffer K { KEYS k[]; };
layout(binding = 2) readonly buffer V { VALUES v[]; };
layout(binding = 3) readonly buffer M { uint mask[]; };
layout(binding = 4) readonly buffer S { float sinks[]; };
layout(binding = 5) writeonly buffer Y { float y[]; };
#include "attention.glsl"
#ifdef BLOCKS
#include "q8_four.glsl"
#endif

const uint kInvocations = 256u;
const uint kKeys = kInvocations / ROWS;
const uint kPerKey = 4u;              // invocations that share a key
const float kNone = -3.402823466e38;  // no score is less, but -infinity

shared vec4 queries[ROWS * FOURS];
shared vec4 parts[kInvocations];        // of scores, by row and key; then of values
shared vec4 weights[kInvocations / 4u];  // by row and key
shared float row_parts[kMostSubgroups * ROWS];
shared float shrinks[ROWS];

#ifdef HALF_CACHE
const uint kUnitFours = 2u;
float key_element(uint e) {
  return unpackHalf2x16(k[e >> 3][e >> 1 & 3u] >> ((e & 1u) * 16u)).x;
}
float value_element(uint e) { return unpackHalf2x16(v[e >> 2][e >> 1 & 1u] >> ((e & 1u) * 16u)).x; }
#elif defined(BLOCKS)
const uint kUnitFours = 1u;
Q8_FOUR(block_key, k)
Q8_FOUR(block_value_four, v)
#else
const uint kUnitFours = 1u;
float key_element(uint e) { return uintBitsToFloat(k[e >> 2][e & 3u]); }
float value_element(uint e) { return uintBitsToFloat(v[e >> 2][e & 3u]); }
#endif

// 16 bytes of a key, or 4 elements of blocks; columns from dim on are 0.
void load_key(uint key, uint unit, out vec4 fours[kUnitFours]) {
  uint e = key + unit * 4u * kUnitFours;
#ifdef BLOCKS
  fours[0] = block_key(kv.offset, e);
#else
  e += kv.offset;
  if (WIDE) {
#ifdef HALF_CACHE
    uvec4 halves = k[e >> 3];
    fours[0] = vec4(unpackHalf2x16(halves.x), unpackHalf2x16(halves.y));
    fours[1] = vec4(unpackHalf2x16(halves.z), unpackHalf2x16(halves.w));
#else
    fours[0] = uintBitsToFloat(k[e >> 2]);
#endif
    return;
  }
  for (uint i = 0; i < 4u * kUnitFours; ++i) {
    fours[i / 4u][i % 4u] = unit * 4u * kUnitFours + i < dim ? key_element(e + i) : 0.0;
  }
#endif
}

// Four values; 0 from value_dim on.
vec4 load_values(uint value, uint four) {
  uint e = value + 4u * four;
#ifdef BLOCKS
  return block_value_four(vv.offset, e);
#else
  e += vv.offset;
  if (WIDE) {
#ifdef HALF_CACHE
    uvec2 halves = v[e >> 2];
    return vec4(unpackHalf2x16(halves.x), unpackHalf2x16(halves.y));
#else
    return uintBitsToFloat(v[e >> 2]);
#endif
  }
  vec4 values;
  for (uint i = 0; i < 4u; ++i) {
    values[i] = 4u * four + i < value_dim ? value_element(e + i) : 0.0;
  }
  return values;
#endif
}

bool load_mask(uint row, uint key, out float value) {
  uint e = mask_offset + row * mask_stride + key;
#ifdef HALF_MASK
  uint bits = mask[e >> 1] >> ((e & 1u) * 16u) & 0xFFFFu;
  value = unpackHalf2x16(bits).x;
  return bits != 0xFC00u;
#else
  value = uintBitsToFloat(mask[e]);
  return mask[e] != 0xFF800000u;
#endif
}

// Steps 1 to 3 name rows of the tile; past the last row of q they repeat it.
uint row_of_q(uint first, uint row) { return min(first + row, rows - 1u); }

void load_queries(uint first, uint head) {
  for (uint i = gl_LocalInvocationID.x; i < ROWS * FOURS; i += kInvocations) {
    uint query = place_in(qv, row_of_q(first, i / FOURS), head);
    for (uint d = 0; d < 4u; ++d) {
      uint column = i % FOURS * 4u + d;
      queries[i][d] = column < dim ? q[query + column] : 0.0;
    }
  }
}

// Step 1, for keys from `from` to `end`.
void score(uint head, uint from, uint end) {
  uint count = min(kKeys, end - from) * kPerKey;
  for (uint i = gl_LocalInvocationID.x; i < count; i += kInvocations) {
    uint j = i / kPerKey;
    uint key = distance_in(kv, from + j, head);
    float sums[ROWS];
    for (uint r = 0; r < ROWS; ++r) {
      sums[r] = 0.0;
    }
    for (uint unit = i % kPerKey; unit < FOURS / kUnitFours; unit += kPerKey) {
      vec4 fours[kUnitFours];
      load_key(key, unit, fours);
      for (uint r = 0; r < ROWS; ++r) {
        for (uint f = 0; f < kUnitFours; ++f) {
          vec4 a = queries[r * FOURS + unit * kUnitFours + f];
          vec4 b = fours[f];
          sums[r] = fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, sums[r]))));
        }
      }
    }
    for (uint r = 0; r < ROWS; ++r) {
      parts[r * kKeys + j][i % kPerKey] = sums[r];
    }
  }
}

// The largest number, or the sum, that the invocations of each row have.
void combine_rows(uint row, float mine, bool largest) {
  for (uint r = 0; r < ROWS; ++r) {
    float part = largest ? subgroupMax(row == r ? mine : kNone) : subgroupAdd(row == r ? mine : 0.0);
    if (subgroupElect()) {
      row_parts[gl_SubgroupID * ROWS + r] = part;
    }
  }
}

void main() {
  rows = param_bits(row_count);
  uint head = group_index() % heads;
  uint first = group_index() / heads * ROWS;
  if (first >= rows) {
    return;
  }
  uint me = gl_LocalInvocationID.x;
  uint row = me / kKeys;  // in step 2
  uint own_row = row_of_q(first, row);
  uint own_first = first_seen(own_row);
  uint seen = seen_by(own_row);
  uint end = seen_by(row_of_q(first, ROWS - 1u));  // the last row sees most
  Scoring scoring = scoring_of(head);
  float best;
  float total;
  begin_row(head, kNone, best, total);
  if (me % kKeys != 0u) {
    total = 0.0;  // one invocation of a row has its sink
  }
  uint fours = (value_dim + 3u) / 4u;  // in step 3
  uint stride = kInvocations / fours;
  uint start = me / fours;
  vec4 sums[ROWS];
  for (uint r = 0; r < ROWS; ++r) {
    sums[r] = vec4(0.0);
  }
  load_queries(first, head);
  barrier();
  for (uint from = first_seen(first); from < end; from += kKeys) {  // the first row sees the first
    score(head / share, from, end);
    barrier();
    uint key = from + me % kKeys;
    bool visible = key >= own_first && key < seen;
    float s = kNone;
    if (visible) {
      s = (parts[me].x + parts[me].y) + (parts[me].z + parts[me].w);
      visible = finish_score(scoring, own_row, key, s);
      s = visible ? s : kNone;
    }
    combine_rows(row, s, true);
    barrier();
    float last = best;
    for (uint i = 0; i < gl_NumSubgroups; ++i) {
      best = max(best, row_parts[i * ROWS + row]);
    }
    float weight = visible ? exp_f32(s - best) : 0.0;
    float shrink = last == best ? 1.0 : exp_f32(last - best);  // both infinite: by the sink
    total = fma(total, shrink, weight);
    weights[me / 4u][me % 4u] = weight;
    if (me % kKeys == 0u) {
      shrinks[row] = shrink;
    }
    barrier();
    for (uint r = 0; r < ROWS; ++r) {
      sums[r] *= shrinks[r];
    }
    for (uint four = start; start < stride && 4u * four < min(kKeys, end - from); four += stride) {
      vec4 seen_weights[ROWS];
      for (uint r = 0; r < ROWS; ++r) {
        seen_weights[r] = weights[(r * kKeys) / 4u + four];
      }
      for (uint i = 0; i < 4u && from + 4u * four + i < end; ++i) {
        uint value = distance_in(vv, from + 4u * four + i, head / share);
        vec4 values = load_values(value, me % fours);
        for (uint r = 0; r < ROWS; ++r) {
          if (seen_weights[r][i] > 0.0) {
            sums[r] = fma(vec4(seen_weights[r][i]), values, sums[r]);
          }
        }
      }
    }
  }
  combine_rows(row, total, false);
  for (uint r = 0; r < ROWS; ++r) {
    parts[me] = sums[r];
    barrier();
    if (me < fours && first + r < rows) {
      float weight = 0.0;
      for (uint i = 0; i < gl_NumSubgroups; ++i) {
        weight += row_parts[i * ROWS + r];
      }
      vec4 sum = vec4(0.0);
      for (uint i = 0; i < stride; ++i) {
        sum += parts[i * fours + me];
      }
      uint to = ((first + r) * heads + head) * value_dim;
      for (uint d = 4u * me; d < min(4u * me + 4u, value_dim); ++d) {
        y[to + d] = weight == 0.0 ? 0.0 : sum[d % 4u] / weight;
      }
    }
    barrier();
  }
}
