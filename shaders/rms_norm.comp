// y = x / sqrt(mean(x^2) + eps) * weight: one invocation normalises one row.
// Reads x twice and weight once, writes y once, 4 bytes per element each.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#define STATE_BINDING 3
#include "index.glsl"
#include "state.glsl"
#include "view.glsl"

layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer W { float weight[]; };
layout(binding = 2) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View xv;
  Param eps;
  uint weighted;
  uint weight_offset;
};

uint from;
float value(uint c) { return x[from + c]; }
#include "rms_norm.glsl"

void main() {
  uint row = linear_index();
  if (row >= shape[0] * shape[1] * shape[2]) {
    return;
  }
  uint cols = shape[3];
  from = at(xv, unflatten(row * cols, shape));
  float scale = scale_of_row(cols);
  for (uint c = 0; c < cols; c += 8u) {
    [[unroll]] for (uint i = 0; i < 8u; ++i) {
      if (c + i < cols) {
        y[row * cols + c + i] = normalised(value(c + i), scale, c + i);
      }
    }
  }
}
