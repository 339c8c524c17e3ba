// z = sum over j of weights[j] * y[j], in the order of j: one invocation computes one element.
// Reads 8 bytes per expert of a row and writes 4 per element.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "index.glsl"
#include "view.glsl"

layout(binding = 0) readonly buffer Y { float y[]; };
layout(binding = 1) readonly buffer Weights { float weights[]; };
layout(binding = 2) writeonly buffer Z { float z[]; };
layout(push_constant) uniform Push {
  uint shape[4];  // of y
  View yv;
  uint weights_offset;
};

void main() {
  uint index = linear_index();
  uint row = index / shape[3];
  if (row >= shape[1]) {
    return;
  }
  // Fused, where a compiler might round in between.
  precise float sum = 0.0;
  for (uint j = 0u; j < shape[2]; ++j) {
    sum = fma(weights[weights_offset + row * shape[2] + j],
              y[at(yv, uvec4(0, row, j, index % shape[3]))], sum);
  }
  z[index] = sum;
}
