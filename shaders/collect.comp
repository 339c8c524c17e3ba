// Sources one after another into the row of this iteration: one word per invocation.
// Reads and writes 4 bytes each.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "index.glsl"

layout(binding = 0) readonly buffer Iteration { uint iteration[]; };
layout(binding = 1) buffer Rows { uint rows[]; };
layout(binding = 2) readonly buffer Source0 { uint source_0[]; };
layout(binding = 3) readonly buffer Source1 { uint source_1[]; };
layout(binding = 4) readonly buffer Source2 { uint source_2[]; };
layout(binding = 5) readonly buffer Source3 { uint source_3[]; };
layout(push_constant) uniform Push {
  uvec4 ends;
  uvec4 offsets;
  uint iteration_offset;
  uint rows_offset;
  uint capacity;
  uint row_words;
  uint first_word;
};

void main() {
  uint i = linear_index();
  uint row = iteration[iteration_offset] - 1u;
  if (i >= ends.w || row >= capacity) {
    return;
  }
  uint value = i < ends.x   ? source_0[offsets.x + i]
               : i < ends.y ? source_1[offsets.y + i - ends.x]
               : i < ends.z ? source_2[offsets.z + i - ends.y]
                            : source_3[offsets.w + i - ends.z];
  rows[rows_offset + row * row_words + first_word + i] = value;
}
