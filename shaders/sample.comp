// Draws a token of each row of logits after penalty, top_k, top_p, min_p and temperature: a workgroup
// per row. Cuts of top_k and top_p are found digit by digit of the key of a logit, in histograms of
// counts or weights; all sums are of integers, so no order of adding changes a token. Reads 4 bytes
// per logit up to 12 times (but for the first from a cache), writes 4 per row. No operation of
// subgroups: every device runs it. The filters: framework/ops/sample.cpp.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#define STATE_BINDING 3
#include "float_key.glsl"
#include "index.glsl"
#include "group.glsl"
#include "philox.glsl"
#include "state.glsl"
#include "wide.glsl"
#include "sample_arithmetic.glsl"

layout(binding = 0) readonly buffer Logits { uint logits[]; };
layout(binding = 1) readonly buffer Recent { uint recent[]; };
layout(binding = 2) writeonly buffer Tokens { uint tokens[]; };
layout(push_constant) uniform Push {
  uint rows;
  uint token_count;
  uint logits_offset;
  uint logits_stride;
  uint recent_offset;
  uint recent_stride;
  uint recent_count;
  Param temperature;
  Param top_k;
  Param top_p;
  Param min_p;
  Param repetition_penalty;
  Param seed;
  Param position;
};

// Every token of this invocation; the loads of one turn do not wait for each other.
#define EACH_TOKEN(t)                                                                         \
  for (uint turn = gl_LocalInvocationID.x; turn < token_count; turn += 4u * gl_WorkGroupSize.x) \
    [[unroll]] for (uint part = 0u, t = turn; part < 4u; ++part, t += gl_WorkGroupSize.x)     \
      if (t < token_count)

const uint kWhole = 1u << 24;          // of top_p
const uint kMinusInfinity = 0x7FFFFFu;  // its key
const uint kInfinity = 0xFF800000u;
const uint kBins = 256u;
const uint kGroups = 16u;
const uint kGroupBins = kBins / kGroups;
const uint kFlagWords = 1024u;

shared uint flags[kFlagWords];  // a bit per recent token, modulo their number
shared uint sums[3u * kBins];   // of each bin, by digits of 10 bits: weights have 30
shared uint group_low[kGroups];
shared uint group_high[kGroups];
shared uint part_ties[gl_WorkGroupSize.x];
shared uint part_low[gl_WorkGroupSize.x];
shared uint part_high[gl_WorkGroupSize.x];
shared uint found_key;
shared uint found_token;
shared uint all_low;
shared uint all_high;

uint from;
uint recent_from;
bool penalised;
float penalty;
float penalty_share;
uint largest_key;
float largest;
// Kept are the keys above `cut`, and of those equal to it the first `ties` tokens.
uint cut = 0u;
uint ties = 0u;

bool not_a_number(Param p) { return (param_bits(p) & 0x7FFFFFFFu) > 0x7F800000u; }

bool is_recent(uint token) {
  if ((flags[(token >> 5) % kFlagWords] >> (token & 31u) & 1u) == 0u) {
    return false;
  }
  if (token_count <= 32u * kFlagWords) {
    return true;  // every token has a flag of its own
  }
  bool found = false;
  for (uint i = 0u; i < recent_count && !found; i += 8u) {
    [[unroll]] for (uint part = 0u; part < 8u; ++part) {
      found = recent[recent_from + min(i + part, recent_count - 1u)] == token || found;
    }
  }
  return found;
}

uint key_at(uint token) {
  uint bits = logits[from + token];
  if (penalised && (bits & 0x7F800000u) != 0x7F800000u && is_recent(token)) {
    precise float v = uintBitsToFloat(bits) * (int(bits) > 0 ? penalty_share : penalty);
    bits = floatBitsToUint(v);
  }
  return key_of(bits);
}

uint weight(uint key, float coldness) {
  if (key == largest_key) {
    return kCertain;
  }
  if (key <= kMinusInfinity || largest_key >= kInfinity) {
    return 0u;
  }
  precise float below = (uintBitsToFloat(bits_of_key(key)) - largest) * coldness;
  return weight_of(below);
}

void add_to_bin(uint bin, uint amount, uint times) {
  if (amount == 0u) {
    return;
  }
  atomicAdd(sums[bin], (amount & 1023u) * times);
  if (amount > 1023u) {
    atomicAdd(sums[kBins + bin], (amount >> 10 & 1023u) * times);
    atomicAdd(sums[2u * kBins + bin], (amount >> 20) * times);
  }
}

uvec2 bin_sum(uint bin) {
  return wide_of_tens(sums[bin], sums[kBins + bin], sums[2u * kBins + bin]);
}

uvec2 group_sum(uint group) { return uvec2(group_low[group], group_high[group]); }

// The sums of groups of bins, which are searched before the bins are.
void add_up_groups() {
  for (uint group = gl_LocalInvocationID.x; group < kGroups; group += gl_WorkGroupSize.x) {
    uvec2 sum = uvec2(0u);
    for (uint bin = group * kGroupBins; bin < (group + 1u) * kGroupBins; ++bin) {
      sum = wide_add(sum, bin_sum(bin));
    }
    group_low[group] = sum.x;
    group_high[group] = sum.y;
  }
  barrier();
}

// The smallest number of tokens that have `each` and `wanted` together.
uint count_for(uvec2 wanted, uint each) {
  uint low = 1u;
  uint high = token_count;
  while (low < high) {
    uint middle = (low + high) / 2u;
    if (wide_less(wide_product(middle, each), wanted)) {
      low = middle + 1u;
    } else {
      high = middle;
    }
  }
  return low;
}

// Keeps the first `amount` of the kept tokens or, weighted, as many as have that fraction of their
// weights.
void cut_off(bool weighted, uint amount) {
  uint prefix = 0u;
  uint mask = 0u;
  uvec2 above = uvec2(0u);
  uvec2 wanted = uvec2(amount, 0u);
  for (uint digit = 4u; digit > 0u; --digit) {
    uint shift = 8u * (digit - 1u);
    barrier();  // the sums before have been read
    for (uint i = gl_LocalInvocationID.x; i < 3u * kBins; i += gl_WorkGroupSize.x) {
      sums[i] = 0u;
    }
    barrier();
    EACH_TOKEN(t) {
      uint key = key_at(t);
      if (key > cut && (key & mask) == prefix) {
        add_to_bin(key >> shift & 255u, weighted ? weight(key, 1.0) : 1u, 1u);
      }
    }
    if (gl_LocalInvocationID.x == 0u && ties > 0u && (cut & mask) == prefix) {
      add_to_bin(cut >> shift & 255u, weighted ? weight(cut, 1.0) : 1u, ties);
    }
    barrier();
    add_up_groups();
    if (weighted && digit == 4u) {
      uvec2 total = uvec2(0u);
      for (uint group = 0u; group < kGroups; ++group) {
        total = wide_add(total, group_sum(group));
      }
      wanted = share_of(total, amount);
      wanted.x = wanted == uvec2(0u) ? 1u : wanted.x;
    }
    uint group = kGroups;
    uvec2 reached = above;
    while (group > 0u && wide_less(reached, wanted)) {
      above = reached;
      --group;
      reached = wide_add(above, group_sum(group));
    }
    if (wide_less(reached, wanted)) {
      return;  // there are not that many
    }
    uint bin = (group + 1u) * kGroupBins;
    reached = above;
    while (wide_less(reached, wanted)) {
      above = reached;
      --bin;
      reached = wide_add(above, bin_sum(bin));
    }
    prefix |= bin << shift;
    mask |= 255u << shift;
  }
  ties = count_for(wide_subtract(wanted, above), weighted ? weight(prefix, 1.0) : 1u);
  cut = prefix;
}

void mark_recent() {
  for (uint i = gl_LocalInvocationID.x; i < kFlagWords; i += gl_WorkGroupSize.x) {
    flags[i] = 0u;
  }
  barrier();
  for (uint i = gl_LocalInvocationID.x; i < recent_count; i += gl_WorkGroupSize.x) {
    uint token = recent[recent_from + i];
    if (token < token_count) {
      atomicOr(flags[(token >> 5) % kFlagWords], 1u << (token & 31u));
    }
  }
  barrier();
}

// The largest key, and the first token that has it.
void find_largest() {
  if (gl_LocalInvocationID.x == 0u) {
    found_key = 0u;
    found_token = 0xFFFFFFFFu;
  }
  barrier();
  uint own = 0u;
  uint first = 0u;
  EACH_TOKEN(t) {
    uint key = key_at(t);
    first = key > own || t == gl_LocalInvocationID.x ? t : first;
    own = max(own, key);
  }
  atomicMax(found_key, own);
  barrier();
  largest_key = found_key;
  if (own == largest_key && gl_LocalInvocationID.x < token_count) {
    atomicMin(found_token, first);
  }
  barrier();
  largest = uintBitsToFloat(bits_of_key(largest_key));
}

uint draw(uint row, float coldness, uint min_weight) {
  // Parts of neighbouring tokens. The weight of a tie counts once it is known how many came before.
  uint each = (token_count + gl_WorkGroupSize.x - 1u) / gl_WorkGroupSize.x;
  uint begin = min(gl_LocalInvocationID.x * each, token_count);
  uint end = min(begin + each, token_count);
  uint tie = cut > 0u && weight(cut, 1.0) >= min_weight ? weight(cut, coldness) : 0u;
  uvec2 sum = uvec2(0u);
  uint equal = 0u;
  for (uint t = begin; t < end; ++t) {
    uint key = key_at(t);
    equal += key == cut ? 1u : 0u;
    if (key > cut && weight(key, 1.0) >= min_weight) {
      sum = wide_add(sum, uvec2(weight(key, coldness), 0u));
    }
  }
  part_low[gl_LocalInvocationID.x] = sum.x;
  part_high[gl_LocalInvocationID.x] = sum.y;
  part_ties[gl_LocalInvocationID.x] = equal;
  barrier();
  // What was before each part, in place of what is in it.
  if (gl_LocalInvocationID.x == 0u) {
    uvec2 total = uvec2(0u);
    uint left = ties;
    for (uint i = 0u; i < gl_WorkGroupSize.x; ++i) {
      uint counted = min(left, part_ties[i]);
      uvec2 own = wide_add(uvec2(part_low[i], part_high[i]), wide_product(counted, tie));
      part_low[i] = total.x;
      part_high[i] = total.y;
      part_ties[i] = left;
      total = wide_add(total, own);
      left -= counted;
    }
    all_low = total.x;
    all_high = total.y;
  }
  barrier();
  uint word = philox4x32(uvec4(param_bits(position), row, 0u, 0u), uvec2(param_bits(seed), 0u)).x;
  uvec2 drawn_weight = drawn(uvec2(all_low, all_high), word);
  sum = uvec2(part_low[gl_LocalInvocationID.x], part_high[gl_LocalInvocationID.x]);
  uint left = part_ties[gl_LocalInvocationID.x];
  if (wide_less(drawn_weight, sum)) {
    return 0xFFFFFFFFu;  // before this part
  }
  for (uint t = begin; t < end; ++t) {
    uint key = key_at(t);
    if (key == cut && left > 0u) {
      sum = wide_add(sum, uvec2(tie, 0u));
      --left;
    } else if (key > cut && weight(key, 1.0) >= min_weight) {
      sum = wide_add(sum, uvec2(weight(key, coldness), 0u));
    }
    if (wide_less(drawn_weight, sum)) {
      return t;
    }
  }
  return 0xFFFFFFFFu;
}

void main() {
  uint row = group_index();
  if (row >= rows) {
    return;
  }
  from = logits_offset + row * logits_stride;
  recent_from = recent_offset + row * recent_stride;
  penalty = param_float(repetition_penalty);
  penalised = recent_count > 0u && !not_a_number(repetition_penalty) &&
              penalty >= kSmallestDivisor && penalty <= kLargestDivisor && penalty != 1.0;
  if (penalised) {
    penalty_share = reciprocal(penalty);
    mark_recent();
  }
  find_largest();
  float heat = param_float(temperature);
  bool greedy = not_a_number(temperature) || !(heat > kSmallestDivisor);
  if (greedy || largest_key == 0u) {
    if (gl_LocalInvocationID.x == 0u) {
      tokens[row] = found_token;
    }
    return;
  }
  int k = param_int(top_k);
  if (k > 0 && uint(k) < token_count) {
    cut_off(false, uint(k));
  }
  uint fraction =
      not_a_number(top_p) ? kWhole : uint(clamp(param_float(top_p), 0.0, 1.0) * 16777216.0);
  if (fraction < kWhole) {
    cut_off(true, fraction);
  }
  uint min_weight =
      not_a_number(min_p) ? 0u : uint(clamp(param_float(min_p), 0.0, 1.0) * 1073741824.0);
  uint token = draw(row, reciprocal(min(heat, kLargestDivisor)), min_weight);
  if (token != 0xFFFFFFFFu) {
    tokens[row] = token;
  }
}
