// y = column of the first largest element: a workgroup reads one row, 4 bytes per element, each
// invocation four elements at once, and writes 4 bytes.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "float_key.glsl"
#include "index.glsl"
#include "group.glsl"
#include "view.glsl"

layout(binding = 0) readonly buffer X { uint x[]; };
layout(binding = 1) writeonly buffer Y { uint y[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View xv;
};

shared uint keys[kMostSubgroups];
shared uint columns[kMostSubgroups];

void main() {
  uint row = group_index();
  if (row >= shape[0] * shape[1] * shape[2]) {
    return;
  }
  uint from = at(xv, unflatten(row * shape[3], shape));
  uint best = 0u;
  uint best_key = 0u;
  // The loads of one turn do not wait for each other.
  for (uint c = gl_LocalInvocationID.x; c < shape[3]; c += 4u * gl_WorkGroupSize.x) {
    uint key[4];
    for (uint i = 0; i < 4u; ++i) {
      uint column = c + i * gl_WorkGroupSize.x;
      key[i] = column < shape[3] ? key_of(x[from + column * xv.strides[3]]) : 0u;
    }
    for (uint i = 0; i < 4u; ++i) {
      if (key[i] > best_key) {
        best = c + i * gl_WorkGroupSize.x;
        best_key = key[i];
      }
    }
  }
  uint part = subgroupMax(best_key);
  if (subgroupElect()) {
    keys[gl_SubgroupID] = part;
  }
  barrier();
  uint largest = 0u;
  for (uint i = 0; i < gl_NumSubgroups; ++i) {
    largest = max(largest, keys[i]);
  }
  // Of a row without a number it is column 0, where no invocation has found anything.
  part = subgroupMin(best_key == largest ? best : 0xFFFFFFFFu);
  if (subgroupElect()) {
    columns[gl_SubgroupID] = part;
  }
  barrier();
  if (gl_LocalInvocationID.x == 0u) {
    uint first = 0xFFFFFFFFu;
    for (uint i = 0; i < gl_NumSubgroups; ++i) {
      first = min(first, columns[i]);
    }
    y[row] = first;
  }
}
