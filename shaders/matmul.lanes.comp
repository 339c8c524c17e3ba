// y = x * w^T + residual: see include/matmul_lanes.glsl.
// variants: f32 f16 bf16 q8_0 q4_0 q4_1 q5_0 q5_1 q4_K q5_K q6_K q2_K q3_K iq4_nl iq4_xs
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "index.glsl"
#include "texels.glsl"
#include "view.glsl"

TEXELS(0, x);
TEXELS(1, w);
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

uint row_of_weights(uint i0, uint i1, uint column) {
  return distance_to(wv, uvec4(i0 / share[0], i1 / share[1], column, 0));
}
#include "matmul_lanes.glsl"
