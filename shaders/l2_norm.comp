// y = x / max(sqrt(sum(x^2)), eps): one invocation per row, see include/l2_norm.glsl.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "index.glsl"
#include "row.glsl"
#include "l2_norm.glsl"
