// softmax(x * scale + mask) of each row, or its logarithm: a workgroup per row, see include/softmax.glsl.
// variants: log_softmax_f32 log_softmax_f16 softmax_f32 softmax_f16
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#if defined(VARIANT_LOG_SOFTMAX_F16) || defined(VARIANT_SOFTMAX_F16)
#extension GL_EXT_shader_16bit_storage : require
#endif
#include "index.glsl"
#include "group.glsl"
#include "row_group.glsl"
#include "softmax.glsl"
