// Running sums of each row: a workgroup takes a row, each invocation a part of neighbouring columns,
// of which it adds the sum and, once it knows the sums of the parts before it, writes the running
// one. Reads x twice (the second time from a cache), writes y once, 4 bytes per element each. No
// operation of subgroups: every device runs it.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "index.glsl"
#include "group.glsl"
#include "row_position.glsl"
#include "view.glsl"

layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View xv;
};

shared float sums[gl_WorkGroupSize.x];

void main() {
  uint row = group_index();
  if (row >= row_count(shape)) {
    return;
  }
  uint cols = shape[3];
  uint from = at(xv, row_position(row, shape));
  uint columns = (cols + gl_WorkGroupSize.x - 1u) / gl_WorkGroupSize.x;
  uint begin = min(gl_LocalInvocationID.x * columns, cols);
  uint end = min(begin + columns, cols);
  float sum = 0.0;
  for (uint c = begin; c < end; ++c) {
    sum += x[from + c * xv.strides[3]];
  }
  sums[gl_LocalInvocationID.x] = sum;
  barrier();
  sum = 0.0;
  for (uint i = 0u; i < gl_LocalInvocationID.x; ++i) {
    sum += sums[i];
  }
  for (uint c = begin; c < end; ++c) {
    sum += x[from + c * xv.strides[3]];
    y[row * cols + c] = sum;
  }
}
