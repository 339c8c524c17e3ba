// y = (x - mean) / sqrt(variance + eps) * weight + bias: a workgroup per row, see include/layer_norm.glsl.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "index.glsl"
#include "group.glsl"
#include "row_group.glsl"
#include "layer_norm.glsl"
