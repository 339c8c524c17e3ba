// Causal convolution per channel, with the last tokens before these in a table: one invocation
// computes one channel of a sequence, token after token. Reads `width` elements of x per token and
// the channel's row of the table once, writes 4 bytes per token and that row.
#version 450
#extension GL_GOOGLE_include_directive : require
#define STATE_BINDING 6
#include "index.glsl"
#include "state.glsl"
#include "recurrence.glsl"

layout(binding = 0) buffer Table { float table[]; };
layout(binding = 1) readonly buffer X { float x[]; };
layout(binding = 2) readonly buffer W { float w[]; };
layout(binding = 3) readonly buffer Bias { float bias[]; };
layout(binding = 4) readonly buffer Ids { int ids[]; };
layout(binding = 5) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push {
  RECURRENCE;
  uint x_strides[3];
  uint all_tokens;  // of y: of which `tokens` are live
  uint channels;
  uint width;
  uint biased;
};
#define IDS_OPERAND 4u
#include "slots.glsl"

void main() {
  uint index = linear_index();
  uint channel = index % channels;
  uint sequence = index / channels;
  uint end = end_token();
  if (sequence >= param_bits(sequences) || first_token >= end) {
    return;
  }
  uint slot;
  bool kept = slot_of(sequence, slot);
  uint before = width - 1u;  // tokens in the table
  uint row = offset_of(0u) + ((kept ? slot : 0u) * channels + channel) * before;
  uint from = offset_of(1u) + sequence * x_strides[0] + channel * x_strides[2];
  uint taps = offset_of(2u) + channel * width;
  uint to = sequence * all_tokens * channels + channel;
  bool zeros = begins();
  for (uint t = first_token; t < end; ++t) {
    float sum = biased != 0u ? bias[offset_of(3u) + channel] : 0.0;
    for (uint k = 0u; k < width; ++k) {
      // Token t - before + k, of which those before first_token are in the table.
      uint place = t - first_token + k;
      float value = 0.0;
      if (place >= before) {
        value = x[from + (first_token + place - before) * x_strides[1]];
      } else if (!zeros) {
        value = table[row + place];
      }
      sum = fma(w[taps + k], value, sum);
    }
    y[to + t * channels] = kept ? sum : not_a_number();
  }
  // Upwards: what is read lies behind what is written.
  uint count = end - first_token;
  for (uint i = 0u; kept && i < before; ++i) {
    uint place = count + i;
    float value = 0.0;
    if (place >= before) {
      value = x[from + (first_token + place - before) * x_strides[1]];
    } else if (!zeros) {
      value = table[row + place];
    }
    table[row + i] = value;
  }
}
