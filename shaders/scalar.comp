// y = f(x) of one number and parameters in the order of the attributes: see include/unary.glsl.
// variants: clamp scale softcap
#version 450
#extension GL_GOOGLE_include_directive : require
#ifdef VARIANT_SOFTCAP
#define PARAMETERS 1
#else
#define PARAMETERS 2
#endif
#include "unary.glsl"
#if defined(VARIANT_CLAMP)
float apply(float v) {
  float low = param_float(parameters[0]);
  float high = param_float(parameters[1]);
  v = v < low ? low : v;
  return v > high ? high : v;
}
#elif defined(VARIANT_SCALE)
float apply(float v) { return fma(v, param_float(parameters[0]), param_float(parameters[1])); }
#else
#include "exp.glsl"
#include "tanh.glsl"
float apply(float v) {
  uint bits = param_bits(parameters[0]);
  float cap = uintBitsToFloat(bits);
  return bits >= 0x00800000u && bits < 0x7F800000u ? cap * tanh_f32(v / cap) : v;
}
#endif
