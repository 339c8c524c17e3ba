// y[r, j] = w[cell of expert j of row r] * x[r, j]: see include/matmul_lanes.glsl, with one row of
// x for each matrix.
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
#include "experts.glsl"
#include "matmul_lanes.glsl"
