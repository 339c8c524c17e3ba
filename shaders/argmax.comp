// y = column of the first largest element: one invocation reads one row, 4 bytes per element, and
// writes 4 bytes.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "float_key.glsl"
#include "index.glsl"
#include "view.glsl"

layout(binding = 0) readonly buffer X { uint x[]; };
layout(binding = 1) writeonly buffer Y { uint y[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View xv;
};

void main() {
  uint row = linear_index();
  if (row >= shape[0] * shape[1] * shape[2]) {
    return;
  }
  uint from = at(xv, unflatten(row * shape[3], shape));
  uint best = 0u;
  uint best_key = 0u;
  // By eights, which the compiler unrolls: llvmpipe ends loops after 65,535 turns. Past the end the
  // last column is repeated, which is not larger.
  for (uint c = 0u; c < shape[3]; c += 8u) {
    for (uint i = 0u; i < 8u; ++i) {
      uint column = min(c + i, shape[3] - 1u);
      uint key = key_of(x[from + column * xv.strides[3]]);
      if (key > best_key) {
        best = column;
        best_key = key;
      }
    }
  }
  y[row] = best;
}
