// y[r, j] = w[cell of expert j of row r] * x[r, j]: see include/matmul_vector.glsl, with one row of
// x for each matrix.
// variants: f32 f16 bf16 q8_0 q4_0 q4_1 q5_0 q5_1 q4_K q5_K q6_K q2_K q3_K iq4_nl iq4_xs
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#if defined(VARIANT_F32) || defined(VARIANT_F16) || defined(VARIANT_BF16)
#define WEIGHT uvec4
#else
#define WEIGHT uint
#endif
#include "index.glsl"
#include "group.glsl"
#include "view.glsl"

layout(binding = 0) readonly buffer X { vec4 x[]; };
layout(binding = 1) readonly buffer W { WEIGHT w[]; };
#include "experts.glsl"
#include "product_units.glsl"
#include "matmul_vector.glsl"
