// Operands and results of add_rms_norm, and the row that is normalised. Include index.glsl first.
#define STATE_BINDING 5
#include "state.glsl"
#include "view.glsl"

layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer Y { float y[]; };
layout(binding = 2) readonly buffer W { float weight[]; };
layout(binding = 3) writeonly buffer Z { float z[]; };
layout(binding = 4) writeonly buffer N { float n[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View xv;
  View yv;
  Param eps;
  uint weighted;
  uint weight_offset;
};

uint from_x;
uint from_y;
// z may lie where x is: it is written together with the result, and not read.
float value(uint c) {
  precise float sum = x[from_x + c] + y[from_y + c];
  return sum;
}

// False if there is no such row.
bool begin_row(uint row) {
  uvec4 first = unflatten(row * shape[3], shape);
  from_x = at(xv, first);
  from_y = at(yv, first);
  return row < shape[0] * shape[1] * shape[2];
}
