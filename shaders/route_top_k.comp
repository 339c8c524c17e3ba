// ids and weights of the k largest gates of each row of logits: one invocation reads a row, 4 bytes
// per logit two or three times (but the first time from a cache), and writes 8 bytes per choice. It
// keeps what it has chosen in a sorted list: every score is computed once, so that no expert is
// chosen twice, however a compiler rounds.
#version 450
#extension GL_GOOGLE_include_directive : require
#define STATE_BINDING 4
#include "exp.glsl"
#include "float_key.glsl"
#include "index.glsl"
#include "state.glsl"
#include "view.glsl"

layout(binding = 0) readonly buffer Logits { uint logits[]; };
layout(binding = 1) readonly buffer Bias { float bias[]; };
layout(binding = 2) writeonly buffer Ids { uint ids[]; };
layout(binding = 3) writeonly buffer Weights { float weights[]; };
layout(push_constant) uniform Push {
  uint rows;
  uint experts;
  uint k;
  uint sigmoid;
  uint normalise;
  uint biased;
  uint bias_offset;
  View lv;
  Param scale;
};

const uint kMost = 64u;  // mirrors kMostRoutedExperts

// Of this invocation's row.
uint row_begin;
uint largest_key = 0u;  // softmax: of its logits; 0 if none is a number
float largest = 0.0;
float total = 0.0;

uint logit_at(uint expert) { return logits[row_begin + expert]; }

// Drivers may ignore NaN and infinity in comparisons, so these are decided by keys. Of the softmax
// it is the part before the division by `total`.
float gate_part(uint bits) {
  uint key = key_of(bits);
  float logit = uintBitsToFloat(bits);
  if (key == 0u) {
    return 0.0;  // NaN
  }
  if (sigmoid != 0u) {
    // exp of a negative number only: nothing overflows.
    float e = exp_f32(-abs(logit));
    return (logit < 0.0 ? e : 1.0) / (1.0 + e);
  }
  return key == largest_key ? 1.0 : exp_f32(logit - largest);
}
float gate_of(uint bits) {
  float part = gate_part(bits);
  return sigmoid != 0u || total == 0.0 ? part : part / total;
}

void main() {
  uint row = linear_index();
  if (row >= rows) {
    return;
  }
  row_begin = at(lv, uvec4(0, 0, row, 0));
  if (sigmoid == 0u) {
    for (uint e = 0u; e < experts; ++e) {
      uint bits = logit_at(e);
      if (key_of(bits) > largest_key) {
        largest_key = key_of(bits);
        largest = uintBitsToFloat(bits);
      }
    }
    for (uint e = 0u; e < experts; ++e) {
      total += gate_part(logit_at(e));
    }
  }
  uint keys[kMost];
  uint chosen[kMost];
  uint count = 0u;
  for (uint e = 0u; e < experts; ++e) {
    uint bits = logit_at(e);
    if (biased != 0u) {
      bits = floatBitsToUint(gate_of(bits) + bias[bias_offset + e]);
    }
    uint key = key_of(bits);
    if (count == k && key <= keys[k - 1u]) {
      continue;
    }
    uint at_place = count < k ? count++ : k - 1u;
    for (; at_place > 0u && keys[at_place - 1u] < key; --at_place) {
      keys[at_place] = keys[at_place - 1u];
      chosen[at_place] = chosen[at_place - 1u];
    }
    keys[at_place] = key;
    chosen[at_place] = e;
  }
  float sum = 0.0;
  for (uint i = 0u; i < k; ++i) {
    sum += gate_of(logit_at(chosen[i]));
  }
  float divisor = normalise != 0u && sum > 0.0 ? sum : 1.0;
  for (uint i = 0u; i < k; ++i) {
    ids[row * k + i] = chosen[i];
    weights[row * k + i] = gate_of(logit_at(chosen[i])) / divisor * param_float(scale);
  }
}
