// Patches of carried fields, then derived fields in order: one invocation in all.
// Reads 12 words per derived field. The expression mirrors evaluate() of core/state_expression.h.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "index.glsl"

layout(binding = 0) buffer State { int state[]; };
layout(binding = 1) buffer Patch { int patches[]; };
layout(binding = 2) readonly buffer Table { int table[]; };
layout(push_constant) uniform Push {
  int carried_first;
  int carried_count;
  int derived_count;
  uint words;
  uint state_offset;
  uint patch_offset;
  uint table_offset;
};

int field(int index) {
  return uint(index) < words ? state[state_offset + uint(index)] : 0;
}

// Unsigned division: that of negative numbers differs between drivers.
int ceil_divide(int value, int divisor) {
  uint d = uint(max(divisor, 1));
  return value > 0 ? int((uint(value) - 1u) / d + 1u) : -int((0u - uint(value)) / d);
}

void main() {
  if (linear_index() != 0) {
    return;
  }
  uint mask = uint(patches[patch_offset]);
  for (int i = 0; i < carried_count; ++i) {
    if (((mask >> i) & 1u) != 0u) {
      state[state_offset + uint(carried_first + i)] = patches[patch_offset + 1u + uint(i)];
    }
  }
  patches[patch_offset] = 0;
  for (int r = 0; r < derived_count; ++r) {
    uint e = table_offset + 12u * uint(r);
    uint target = uint(table[e]);
    if (target < words) {
      int sum = table[e + 3u] * field(table[e + 1u]) + table[e + 4u] * field(table[e + 2u]) +
                table[e + 5u];
      int value = ceil_divide(sum, table[e + 6u]);
      state[state_offset + target] = min(max(value, table[e + 7u]), table[e + 8u]);
    }
  }
}
