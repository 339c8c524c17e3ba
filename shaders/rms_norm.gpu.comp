// y = x / sqrt(mean(x^2) + eps) * weight: a workgroup normalises one row, its invocations take
// neighbouring elements. Reads x twice (the second time from a cache) and weight once, writes y
// once, 4 bytes per element each.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#define STATE_BINDING 3
#include "index.glsl"
#include "group.glsl"
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
#include "rms_norm_group.glsl"

void main() {
  uint row = group_index();
  if (row >= shape[0] * shape[1] * shape[2]) {
    return;
  }
  uint cols = shape[3];
  from = at(xv, unflatten(row * cols, shape));
  float scale = scale_of_row(cols);
  for (uint c = gl_LocalInvocationID.x; c < cols; c += gl_WorkGroupSize.x) {
    y[row * cols + c] = normalised(value(c), scale, c);
  }
}
