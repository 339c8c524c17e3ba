// y = (x - mean) / sqrt(variance + eps) * weight + bias: one invocation per row, see include/layer_norm.glsl.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "index.glsl"
#include "row.glsl"
#include "layer_norm.glsl"
