// Gated delta rule: one invocation carries one column of a head's state from token to token, in the
// table; its neighbours have the next columns. Reads the column twice and writes it once per token, 12
// bytes per element, and reads the token's q and k.
#version 450
#extension GL_GOOGLE_include_directive : require
#define STATE_BINDING 8
#include "exp.glsl"
#include "index.glsl"
#include "state.glsl"
#include "recurrence.glsl"

layout(binding = 0) buffer Table { float table[]; };
layout(binding = 1) readonly buffer Q { float q[]; };
layout(binding = 2) readonly buffer K { float k[]; };
layout(binding = 3) readonly buffer V { float v[]; };
layout(binding = 4) readonly buffer Gate { float gate[]; };
layout(binding = 5) readonly buffer Beta { float beta[]; };
layout(binding = 6) readonly buffer Ids { int ids[]; };
layout(binding = 7) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push {
  RECURRENCE;
  uint q_strides[3];
  uint k_strides[3];
  uint v_strides[3];
  uint gate_strides[2];
  uint beta_strides[2];
  uint all_tokens;  // of y: of which `tokens` are live
  uint heads;
  uint share;
  uint key_dim;
  uint value_dim;
  Param scale;
};
#define IDS_OPERAND 6u
#include "slots.glsl"

void main() {
  uint index = linear_index();
  uint column = index % value_dim;
  uint head = index / value_dim % heads;
  uint sequence = index / value_dim / heads;
  uint end = end_token();
  if (sequence >= param_bits(sequences) || first_token >= end) {
    return;
  }
  uint slot;
  bool kept = slot_of(sequence, slot);
  uint first = offset_of(0u) + ((kept ? slot : 0u) * heads + head) * key_dim * value_dim + column;
  uint key_head = head / share;
  bool zeros = begins();
  float factor = param_float_or_value(scale);
  for (uint t = first_token; t < end; ++t) {
    float result = not_a_number();
    if (kept) {
      uint gate_at = offset_of(4u) + sequence * gate_strides[0] + t * gate_strides[1] + head;
      uint beta_at = offset_of(5u) + sequence * beta_strides[0] + t * beta_strides[1] + head;
      uint q_at = offset_of(1u) + sequence * q_strides[0] + t * q_strides[1] + key_head * q_strides[2];
      uint k_at = offset_of(2u) + sequence * k_strides[0] + t * k_strides[1] + key_head * k_strides[2];
      uint v_at = offset_of(3u) + sequence * v_strides[0] + t * v_strides[1] + head * v_strides[2];
      float stays = exp_f32(gate[gate_at]);
      bool fresh = zeros && t == 0u;
      float known = 0.0;
      for (uint i = 0u; i < key_dim; ++i) {
        float s = fresh ? 0.0 : table[first + i * value_dim] * stays;
        known = fma(s, k[k_at + i], known);
      }
      float added = beta[beta_at] * (v[v_at + column] - known);
      float sum = 0.0;
      for (uint i = 0u; i < key_dim; ++i) {
        float s = fresh ? 0.0 : table[first + i * value_dim] * stays;
        s = fma(added, k[k_at + i], s);
        table[first + i * value_dim] = s;
        sum = fma(s, q[q_at + i], sum);
      }
      result = sum * factor;
    }
    y[((sequence * all_tokens + t) * heads + head) * value_dim + column] = result;
  }
}
