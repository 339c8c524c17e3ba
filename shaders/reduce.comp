// The sum, mean or largest element of each row: one invocation per row, see include/reduce.glsl.
// variants: max mean sum sum_rows
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "index.glsl"
#include "row.glsl"
#include "reduce.glsl"
