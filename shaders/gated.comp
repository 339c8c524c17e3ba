// y = f(gate) * up: one invocation computes one element.
// Reads 8 bytes and writes 4 per element.
// variants: gelu_mul sigmoid_mul silu_mul
#version 450
#extension GL_GOOGLE_include_directive : require
#include "gated.glsl"
#include "index.glsl"
#include "view.glsl"

layout(binding = 0) readonly buffer Gate { float gate[]; };
layout(binding = 1) readonly buffer Up { float up[]; };
layout(binding = 2) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View gv;
  View uv;
  uint joined;
};

void main() {
  uint index = linear_index();
  if (index >= shape[0] * shape[1] * shape[2] * shape[3]) {
    return;
  }
  uvec4 i = unflatten(index, shape);
  uint from = at(gv, i);
  float g = gate[from];
  float u = joined != 0 ? gate[from + shape[3]] : up[at(uv, i)];
  y[index] = gated(g, u);
}
