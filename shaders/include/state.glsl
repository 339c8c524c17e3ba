// The state block, and parameters that are constants or live in it: mirrors Param of core/op.h.
// Define STATE_BINDING first: the binding after all operands and results.
layout(binding = STATE_BINDING, std140) uniform State { uvec4 words[256]; } state;

struct Param {
  uint value;
  uint word;
};

uint param_bits(Param p) {
  return p.word == 0xFFFFFFFFu ? p.value : state.words[p.word >> 2][p.word & 3u];
}
int param_int(Param p) { return int(param_bits(p)); }
float param_float(Param p) { return uintBitsToFloat(param_bits(p)); }
