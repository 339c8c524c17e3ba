// y[r, j] = w[cell of expert j of row r] * x[r, j]: see include/matmul_rows.glsl, with one row of x
// for each matrix.
// variants: f32 f16 bf16 q8_0 q4_0 q4_1 q5_0 q5_1 q4_K q5_K q6_K q2_K q3_K iq4_nl iq4_xs
#version 450
#extension GL_GOOGLE_include_directive : require
#include "weight_type.glsl"
#include "index.glsl"
#include "view.glsl"

layout(constant_id = 1) const uint TILE = 1;

layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer W { WEIGHT w[]; };
#include "experts.glsl"

#define WEIGHT_AT(i) DECODED(w[i])
#define WEIGHTS_BEGIN wv.offset
#include "matmul_rows.glsl"
