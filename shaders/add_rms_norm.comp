// z = x + y; n = z / sqrt(mean(z^2) + eps) * weight: one invocation has one row.
// Reads x and y twice and weight once, writes z and n once, 4 bytes per element each.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "index.glsl"
#include "add_rms_norm.glsl"
#include "rms_norm.glsl"

void main() {
  uint row = linear_index();
  if (!begin_row(row)) {
    return;
  }
  uint cols = shape[3];
  float scale = scale_of_row(cols);
  for (uint c = 0; c < cols; c += 8u) {
    [[unroll]] for (uint i = 0; i < 8u; ++i) {
      if (c + i < cols) {
        float v = value(c + i);
        z[row * cols + c + i] = v;
        n[row * cols + c + i] = normalised(v, scale, c + i);
      }
    }
  }
}
