// y = column of the first largest element: one invocation reads one row, 4 bytes per element, and
// writes 4 bytes. Compares integers, because drivers may flush subnormals and ignore NaN.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "index.glsl"
#include "view.glsl"

layout(binding = 0) readonly buffer X { uint x[]; };
layout(binding = 1) writeonly buffer Y { uint y[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View xv;
};

// Orders like the floats do: both zeros are equal, NaN is 0 and below everything.
uint key_of(uint bits) {
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) {
    return 0u;
  }
  bits = bits == 0x80000000u ? 0u : bits;
  return bits ^ ((bits >> 31) != 0u ? 0xFFFFFFFFu : 0x80000000u);
}

void main() {
  uint row = linear_index();
  if (row >= shape[0] * shape[1] * shape[2]) {
    return;
  }
  uint from = at(xv, unflatten(row * shape[3], shape));
  uint best = 0u;
  uint best_key = 0u;
  for (uint c = 0u; c < shape[3]; ++c) {
    uint key = key_of(x[from + c * xv.strides[3]]);
    if (key > best_key) {
      best = c;
      best_key = key;
    }
  }
  y[row] = best;
}
