// The sum, mean or largest element of each row: a workgroup per row, see include/reduce.glsl.
// variants: max mean sum sum_rows
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "index.glsl"
#include "group.glsl"
#include "row_group.glsl"
#include "reduce.glsl"
