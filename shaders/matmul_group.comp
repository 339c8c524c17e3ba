// y0 = x * w0^T and so on: the weights as if they were stacked, see include/matmul_rows.glsl.
// variants: f32 f16 bf16 q8_0 q4_0 q4_1 q5_0 q5_1 q4_K q5_K q6_K q2_K q3_K iq4_nl iq4_xs
#version 450
#extension GL_GOOGLE_include_directive : require
#include "weight_type.glsl"
#include "index.glsl"
#include "view.glsl"

layout(constant_id = 1) const uint TILE = 1;

struct Part {
  uint columns;  // 0: it is not there
  uint w_offset;
  uint w_row;
  uint y_offset;
};

layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer W0 { WEIGHT w0[]; };
layout(binding = 2) readonly buffer W1 { WEIGHT w1[]; };
layout(binding = 3) readonly buffer W2 { WEIGHT w2[]; };
layout(binding = 4) writeonly buffer Y0 { float y0[]; };
layout(binding = 5) writeonly buffer Y1 { float y1[]; };
layout(binding = 6) writeonly buffer Y2 { float y2[]; };
layout(push_constant) uniform Push {
  uint shape[4];  // of all results side by side
  View xv;
  uint k;
  Part parts[3];
};

// Of this invocation: its part and the first column of that.
uint part;
uint part_begin;

#define WEIGHT_AT(i) \
  (part == 0u ? DECODED(w0[i]) : part == 1u ? DECODED(w1[i]) : DECODED(w2[i]))
#define WEIGHTS_BEGIN parts[part].w_offset

uint row_of_weights(uint i0, uint i1, uint column) {
  part = 0u;
  part_begin = 0u;
  while (column - part_begin >= parts[part].columns) {
    part_begin += parts[part].columns;
    ++part;
  }
  return (column - part_begin) * parts[part].w_row;
}

void store(uvec4 p, float product) {
  uint row = (p.x * shape[1] + p.y) * shape[2] + p.z;
  uint e = parts[part].y_offset + row * parts[part].columns + p.w - part_begin;
  if (part == 0u) {
    y0[e] = product;
  } else if (part == 1u) {
    y1[e] = product;
  } else {
    y2[e] = product;
  }
}
#include "matmul_rows.glsl"
