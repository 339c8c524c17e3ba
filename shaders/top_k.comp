// The columns of the k largest elements of each row: one invocation per element counts the elements
// before its own, which is its place among the ids, and leaves when there are k of them. Neighbours
// read the same elements, from a cache. Writes 4 bytes per id.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "float_key.glsl"
#include "index.glsl"
#include "view.glsl"

layout(binding = 0) readonly buffer X { uint x[]; };
layout(binding = 1) writeonly buffer Ids { uint ids[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View xv;
  uint elements;
  uint k;
};

// A row is read in strips of every 32nd column, so that those of sorted rows meet larger ones early.
const uint kStrips = 32u;
const uint kLoads = 8u;  // of a turn: they do not wait for each other

void main() {
  uint i = linear_index();
  if (i >= elements) {
    return;
  }
  uvec4 p = unflatten(i, shape);
  uint cols = shape[3];
  uint from = at(xv, uvec4(p.xyz, 0u));
  uint own = key_of(x[from + p.w * xv.strides[3]]);
  uint before = 0u;
  for (uint strip = 0u; strip < kStrips; ++strip) {
    for (uint first = strip; first < cols; first += kStrips * kLoads) {
      [[unroll]] for (uint l = 0u; l < kLoads; ++l) {
        uint c = first + l * kStrips;
        uint key = c < cols ? key_of(x[from + c * xv.strides[3]]) : 0u;
        before += c < cols && (key > own || (key == own && c < p.w)) ? 1u : 0u;
      }
      if (before >= k) {
        return;
      }
    }
  }
  ids[(i / cols) * k + before] = p.w;
}
