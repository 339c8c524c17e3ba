// y = x / sqrt(mean(x^2) + eps) * weight: one invocation normalises one row.
// Reads x twice and weight once, writes y once, 4 bytes per element each.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "index.glsl"
#include "view.glsl"

layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer W { float weight[]; };
layout(binding = 2) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View xv;
  float eps;
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
  for (uint c = 0; c < cols; ++c) {
    float v = x[from + c];
    sum += v * v;
  }
  float scale = 1.0 / sqrt(sum / float(cols) + eps);
  for (uint c = 0; c < cols; ++c) {
    y[row * cols + c] = x[from + c] * scale * (weighted != 0 ? weight[weight_offset + c] : 1.0);
  }
}
