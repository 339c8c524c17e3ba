// y = f(x) of one number: see include/unary.glsl.
// variants: cos exp gelu gelu_erf gelu_quick log neg relu sigmoid silu sin sqr sqrt tanh
#version 450
#extension GL_GOOGLE_include_directive : require
#include "unary.glsl"
#include "exp.glsl"
#if defined(VARIANT_COS)
#include "radians.glsl"
float apply(float v) { return sine_cosine_of(v).y; }
#elif defined(VARIANT_EXP)
// exp_f32() has no results above exp(88).
float apply(float v) { return v > 88.0 ? exp_f32(v - 1.0) * 2.71828183 : exp_f32(v); }
#elif defined(VARIANT_GELU)
#include "activations.glsl"
float apply(float v) { return gelu(v); }
#elif defined(VARIANT_GELU_ERF)
#include "erfc.glsl"
float apply(float v) {
  float q = 0.5 * erfc_f32(abs(v) * 0.707106781);
  return v * (v < 0.0 ? q : 1.0 - q);
}
#elif defined(VARIANT_GELU_QUICK)
#include "activations.glsl"
float apply(float v) { return v * sigmoid(1.702 * v); }
#elif defined(VARIANT_LOG)
#include "log.glsl"
float apply(float v) { return log_f32(v); }
#elif defined(VARIANT_NEG)
float apply(float v) { return -v; }
#elif defined(VARIANT_RELU)
float apply(float v) { return v < 0.0 ? 0.0 : v; }
#elif defined(VARIANT_SIGMOID)
#include "activations.glsl"
float apply(float v) { return sigmoid(v); }
#elif defined(VARIANT_SILU)
#include "activations.glsl"
float apply(float v) { return silu(v); }
#elif defined(VARIANT_SIN)
#include "radians.glsl"
float apply(float v) { return sine_cosine_of(v).x; }
#elif defined(VARIANT_SQR)
float apply(float v) { return v * v; }
#elif defined(VARIANT_SQRT)
// The built-in is undefined below 0, and may be x / sqrt(x) of infinity.
float apply(float v) {
  uint bits = floatBitsToUint(v);
  return bits > 0x80000000u ? make_nan() : bits == 0x7F800000u ? v : sqrt(v);
}
#elif defined(VARIANT_TANH)
#include "tanh.glsl"
float apply(float v) { return tanh_f32(v); }
#endif
