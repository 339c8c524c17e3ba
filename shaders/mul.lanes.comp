// z = x * y for operands of one shape: see include/elementwise_lanes.glsl.
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_GOOGLE_include_directive : require

float combine(float a, float b) { return a * b; }
#include "elementwise_lanes.glsl"
