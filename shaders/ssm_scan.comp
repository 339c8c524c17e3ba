// Selective scan: one invocation carries the state of one element of a head of a sequence from token
// to token, in its row of the table. Reads and writes that row per token, 8 bytes per element, and
// reads the token's b and c.
#version 450
#extension GL_GOOGLE_include_directive : require
#define STATE_BINDING 8
#include "exp.glsl"
#include "index.glsl"
#include "state.glsl"
#include "recurrence.glsl"
#include "softplus.glsl"

layout(binding = 0) buffer Table { float table[]; };
layout(binding = 1) readonly buffer X { float x[]; };
layout(binding = 2) readonly buffer Dt { float dt[]; };
layout(binding = 3) readonly buffer A { float a[]; };
layout(binding = 4) readonly buffer B { float b[]; };
layout(binding = 5) readonly buffer C { float c[]; };
layout(binding = 6) readonly buffer Ids { int ids[]; };
layout(binding = 7) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push {
  RECURRENCE;
  uint x_strides[3];
  uint dt_strides[2];
  uint b_strides[3];
  uint c_strides[3];
  uint all_tokens;  // of y: of which `tokens` are live
  uint heads;
  uint head_dim;
  uint share;
  uint state_dim;
  uint per_state;
};
#define IDS_OPERAND 6u
#include "slots.glsl"

void main() {
  uint index = linear_index();
  uint i = index % head_dim;
  uint head = index / head_dim % heads;
  uint sequence = index / head_dim / heads;
  uint end = end_token();
  if (sequence >= param_bits(sequences) || first_token >= end) {
    return;
  }
  uint slot;
  bool kept = slot_of(sequence, slot);
  uint row = offset_of(0u) + (((kept ? slot : 0u) * heads + head) * head_dim + i) * state_dim;
  uint group = head / share;
  uint of_a = offset_of(3u) + (per_state != 0u ? head * state_dim : head);
  bool zeros = begins();
  for (uint t = first_token; t < end; ++t) {
    float result = not_a_number();
    if (kept) {
      float dt_at = dt[offset_of(2u) + sequence * dt_strides[0] + t * dt_strides[1] + head];
      float d = softplus(dt_at);
      uint x_at = offset_of(1u) + sequence * x_strides[0] + t * x_strides[1] + head * x_strides[2];
      float value = d * x[x_at + i];
      float stays = exp_f32(d * a[of_a]);
      uint b_at = offset_of(4u) + sequence * b_strides[0] + t * b_strides[1] + group * b_strides[2];
      uint c_at = offset_of(5u) + sequence * c_strides[0] + t * c_strides[1] + group * c_strides[2];
      result = 0.0;
      for (uint n = 0u; n < state_dim; ++n) {
        float before = zeros && t == 0u ? 0.0 : table[row + n];
        if (per_state != 0u && n > 0u) {
          stays = exp_f32(d * a[of_a + n]);
        }
        float s = fma(before, stays, value * b[b_at + n]);
        table[row + n] = s;
        result = fma(s, c[c_at + n], result);
      }
    }
    y[((sequence * all_tokens + t) * heads + head) * head_dim + i] = result;
  }
}
