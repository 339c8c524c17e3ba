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

void main() {
  uint row = linear_index();
  uint rows = shape[0] * shape[1] * shape[2];
  if (row >= rows) {
    return;
  }
  uint cols = shape[3];
  uint from = at(xv, unflatten(row * cols, shape));
  float sum = 0.0;
  // By eights, which the compiler unrolls: llvmpipe ends loops after 65,535 turns. Eight sums, so
  // that long rows lose less.
  float sums[8] = float[8](0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
  for (uint c = 0; c < cols; c += 8u) {
    [[unroll]] for (uint i = 0; i < 8u; ++i) {
      float v = c + i < cols ? x[from + c + i] : 0.0;
      sums[i] += v * v;
    }
  }
  [[unroll]] for (uint i = 0; i < 8u; ++i) {
    sum += sums[i];
  }
  float scale = 1.0 / sqrt(sum / float(cols) + param_float(eps));
  for (uint c = 0; c < cols; c += 8u) {
    [[unroll]] for (uint i = 0; i < 8u; ++i) {
      uint at = c + i;
      if (at < cols) {
        y[row * cols + at] =
            x[from + at] * scale * (weighted != 0 ? weight[weight_offset + at] : 1.0);
      }
    }
  }
}
