// z = x + y; n = z / sqrt(mean(z^2) + eps) * weight: a workgroup has one row, its invocations take
// neighbouring elements. Reads x and y twice (the second time from a cache) and weight once, writes
// z and n once, 4 bytes per element each.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "index.glsl"
#include "group.glsl"
#include "add_rms_norm.glsl"
#include "rms_norm_group.glsl"

void main() {
  uint row = group_index();
  if (!begin_row(row)) {
    return;
  }
  uint cols = shape[3];
  float scale = scale_of_row(cols);
  for (uint c = gl_LocalInvocationID.x; c < cols; c += gl_WorkGroupSize.x) {
    float v = value(c);
    z[row * cols + c] = v;
    n[row * cols + c] = normalised(v, scale, c);
  }
}
