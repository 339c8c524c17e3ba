// Rotary position embedding: one invocation turns one pair of HEADS heads, or copies one element
// after the rotated ones. Reads and writes every element once, 4 bytes each; the angle, which is most
// of the work, is the same for all heads of a row.
#version 450
#extension GL_GOOGLE_include_directive : require
#define STATE_BINDING 4
#include "fraction.glsl"
#include "index.glsl"
#include "rope_angles.glsl"
#include "state.glsl"
#include "trig.glsl"
#include "view.glsl"

layout(constant_id = 1) const uint HEADS = 1;

layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer Positions { int positions[]; };
layout(binding = 2) readonly buffer Factors { float factors[]; };
layout(binding = 3) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View xv;
  Param position;
  uint pairs;
  uint half_split;
  uint given;
  uint positions_offset;
  uint factors_offset;
  Param base;
  Param scale;
  uint inverse_pairs[2];
  uint ratio[2];
  uint turns[2];
  int exponent;
};
#include "rope.glsl"

void main() {
  uint index = linear_index();
  uint tasks = shape[3] - pairs;
  uint groups = (shape[2] + HEADS - 1u) / HEADS;
  uint task = index % tasks;
  uint first = index / tasks % groups * HEADS;
  uint row = index / tasks / groups;
  if (row >= shape[1]) {
    return;
  }
  uint end = min(first + HEADS, shape[2]);
  if (task >= pairs) {
    for (uint head = first; head < end; ++head) {
      uint i = task + pairs;
      y[(row * shape[2] + head) * shape[3] + i] = x[at(xv, uvec4(0, row, head, i))];
    }
    return;
  }
  vec2 sc = rotation_of(row, task);
  uint a = half_split != 0u ? task : 2u * task;
  uint b = half_split != 0u ? task + pairs : 2u * task + 1u;
  for (uint head = first; head < end; ++head) {
    uint from = at(xv, uvec4(0, row, head, 0));
    uint to = (row * shape[2] + head) * shape[3];
    vec2 pair = turned(x[from + a], x[from + b], sc);
    y[to + a] = pair.x;
    y[to + b] = pair.y;
  }
}
