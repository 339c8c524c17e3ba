// The variants of gated.comp and gated.lanes.comp.
#include "exp.glsl"
#include "nan.glsl"
#include "activations.glsl"

float gated(float gate, float up) {
#if defined(VARIANT_GELU_MUL)
  return gelu(gate) * up;
#elif defined(VARIANT_SIGMOID_MUL)
  return is_nan(gate) ? gate : sigmoid(gate) * up;
#else
  return silu(gate) * up;
#endif
}
