// The state block, and parameters that are constants or live in it: mirrors Param of core/op.h.
// Define STATE_BINDING first: the binding after all operands and results.
layout(binding = STATE_BINDING, std140) uniform State { uvec4 words[256]; } state;

struct Param {
  uint value;
  uint word;
};

bool param_dynamic(Param p) { return p.word != 0xFFFFFFFFu; }
uint param_bits(Param p) {
  return param_dynamic(p) ? state.words[p.word >> 2][p.word & 3u] : p.value;
}
int param_int(Param p) { return int(param_bits(p)); }
float param_float(Param p) { return uintBitsToFloat(param_bits(p)); }
// Where 0 in the state stands for the constant.
float param_float_or_value(Param p) {
  float value = param_float(p);
  return value == 0.0 ? uintBitsToFloat(p.value) : value;
}
