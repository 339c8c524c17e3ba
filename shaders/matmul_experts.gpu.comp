// y[r, j] = w[cell of expert j of row r] * x[r, j]: see include/matmul_vector.glsl, with one row of
// x for each matrix.
// variants: f32 f16 q8_0 q4_0
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#if defined(VARIANT_F32)
#define WEIGHT_F32
#define WEIGHT uvec4
#elif defined(VARIANT_F16)
#define WEIGHT_F16
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
