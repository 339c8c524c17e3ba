// y = x, but -infinity in columns above n_past + row: one invocation copies one element, 4 bytes
// read and written. Works on bits, so NaN and subnormals survive.
#version 450
#extension GL_GOOGLE_include_directive : require
#define STATE_BINDING 2
#include "index.glsl"
#include "state.glsl"
#include "view.glsl"

layout(binding = 0) readonly buffer X { uint x[]; };
layout(binding = 1) writeonly buffer Y { uint y[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View xv;
  Param n_past;
  uint elements;
};

void main() {
  uint i = linear_index();
  if (i >= elements) {
    return;
  }
  uvec4 p = unflatten(i, shape);
  // Without a sum that could overflow: n_past is any number.
  bool ahead = int(p.w) - int(p.z) > param_int(n_past);
  y[i] = ahead ? 0xFF800000u : x[at(xv, p)];
}
