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

shared float parts[kMostSubgroups];

void main() {
  uint row = group_index();
  if (row >= shape[0] * shape[1] * shape[2]) {
    return;
  }
  uint cols = shape[3];
  uint from = at(xv, unflatten(row * cols, shape));
  float part = 0.0;
  for (uint c = gl_LocalInvocationID.x; c < cols; c += gl_WorkGroupSize.x) {
    float v = x[from + c];
    part = fma(v, v, part);
  }
  part = subgroupAdd(part);
  if (subgroupElect()) {
    parts[gl_SubgroupID] = part;
  }
  barrier();
  float sum = 0.0;
  for (uint i = 0; i < gl_NumSubgroups; ++i) {
    sum += parts[i];
  }
  float scale = 1.0 / sqrt(sum / float(cols) + param_float(eps));
  for (uint c = gl_LocalInvocationID.x; c < cols; c += gl_WorkGroupSize.x) {
    y[row * cols + c] = x[from + c] * scale * (weighted != 0 ? weight[weight_offset + c] : 1.0);
  }
}
