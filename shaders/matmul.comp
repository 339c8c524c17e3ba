// y = x * w^T + residual: see include/matmul_rows.glsl.
// variants: f32 f16 bf16 q8_0 q4_0 q4_1 q5_0 q5_1 q4_K q5_K q6_K q2_K q3_K iq4_nl iq4_xs
#version 450
#extension GL_GOOGLE_include_directive : require
#include "weight_type.glsl"
#include "index.glsl"
#include "view.glsl"

layout(constant_id = 1) const uint TILE = 1;

layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer W { WEIGHT w[]; };
layout(binding = 2) readonly buffer Residual { float residual[]; };
layout(binding = 3) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View xv;
  View wv;
  View yv;
  uint share[2];
  uint k;
  uint adds;
  uint residual_offset;
};
#include "residual.glsl"

#define WEIGHT_AT(i) DECODED(w[i])
#define WEIGHTS_BEGIN wv.offset
uint row_of_weights(uint i0, uint i1, uint column) {
  return distance_to(wv, uvec4(i0 / share[0], i1 / share[1], column, 0));
}
#include "matmul_rows.glsl"
