// Stops an iteration where a row names an expert that is not there, counts who is named, and says
// where each expert is: one workgroup in all. Reads 4 bytes per id and expert, writes 4 per expert.
#version 450
#extension GL_GOOGLE_include_directive : require
#define STATE_BINDING 5
#include "index.glsl"
#include "state.glsl"

layout(binding = 0) readonly buffer Ids { uint ids[]; };
layout(binding = 1) readonly buffer Cells { int cells[]; };
layout(binding = 2) buffer Iteration { int iteration[]; };
layout(binding = 3) buffer Uses { uint uses[]; };
layout(binding = 4) writeonly buffer Placed { int placed[]; };
layout(push_constant) uniform Push {
  Param rows;
  Param counted;
  int stop;
  uint used;
  uint experts;
  uint first;
  uint grids;
  uint ids_offset;
  uint cells_offset;
  uint iteration_offset;
  uint uses_offset;
  uint placed_offset;
};

const int kNone = -1;
const int kServed = -2;

// Every invocation that misses does this, with the same values.
void stop_here() {
  iteration[iteration_offset + 3u] = stop;
  uint count = min(uint(iteration[iteration_offset + 2u]), grids);
  for (uint r = 0u; r < count; ++r) {
    uint at = iteration_offset + 4u + 12u * r + 4u;
    iteration[at] = 0;
    iteration[at + 1u] = 0;
    iteration[at + 2u] = 0;
  }
}

void main() {
  uint step = gl_WorkGroupSize.x;
  uint named = uint(max(min(param_int(rows), param_int(counted)), 0)) * used;
  for (uint i = gl_LocalInvocationID.x; i < named; i += step) {
    uint id = ids[ids_offset + i];
    if (id < experts) {
      if (first != 0u) {
        atomicAdd(uses[uses_offset + id], 1u);
      }
      if (cells[cells_offset + id] == kNone) {
        stop_here();
      }
    }
  }
  for (uint e = gl_LocalInvocationID.x; e < experts; e += step) {
    int cell = cells[cells_offset + e];
    placed[placed_offset + e] = first != 0u || cell == kNone ? cell : kServed;
  }
}
