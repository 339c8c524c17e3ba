// z[i] = combine(x[i], y[i mod extents of y]): one invocation computes one element.
// Reads 8 bytes, writes 4.
// variants: add div mul sub
#version 450
#extension GL_GOOGLE_include_directive : require
#include "binary.glsl"
#include "index.glsl"
#include "view.glsl"

layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer Y { float y[]; };
layout(binding = 2) writeonly buffer Z { float z[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  uint y_shape[4];
  View xv;
  View yv;
  uint elements;
};

void main() {
  uint i = linear_index();
  if (i >= elements) {
    return;
  }
  uvec4 p = unflatten(i, shape);
  uvec4 q = p % uvec4(y_shape[0], y_shape[1], y_shape[2], y_shape[3]);
  z[i] = combine(x[at(xv, p)], y[at(yv, q)]);
}
