// y[i] = apply(x[i]), or x[i] where that is NaN: one invocation computes one element. Reads 4 bytes,
// writes 4. Define `float apply(float v)` after it; PARAMETERS, the number of attributes, before.
#include "index.glsl"
#include "nan.glsl"
#include "view.glsl"
#ifdef PARAMETERS
#define STATE_BINDING 2
#include "state.glsl"
#endif

layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View xv;
  uint elements;
#ifdef PARAMETERS
  Param parameters[PARAMETERS];
#endif
};

float apply(float v);

void main() {
  uint i = linear_index();
  if (i < elements) {
    float v = x[at(xv, unflatten(i, shape))];
    y[i] = is_nan(v) ? v : apply(v);
  }
}
