// y = (x - mean) / sqrt(variance + eps) * weight + bias. Reads a row three times (from a cache but
// for the first) and weight and bias once, writes y once, 4 bytes per element each. Include row.glsl
// or row_group.glsl first.
#define STATE_BINDING 4
#include "state.glsl"
#include "view.glsl"

layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer W { float weight[]; };
layout(binding = 2) readonly buffer B { float bias[]; };
layout(binding = 3) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View xv;
  Param eps;
  uint given;  // bit 0: weight, bit 1: bias
  uint weight_offset;
  uint bias_offset;
};

void main() {
  uint row = row_index();
  if (row >= row_count(shape)) {
    return;
  }
  uint cols = shape[3];
  uint from = at(xv, row_position(row, shape));
  float sums[8] = float[8](0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
  EACH_COLUMN(c, cols) { sums[part] += x[from + c]; }
  float mean = row_sum(sums) / float(cols);
  sums = float[8](0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
  EACH_COLUMN(c, cols) {
    float distance = x[from + c] - mean;
    sums[part] = fma(distance, distance, sums[part]);
  }
  float scale = 1.0 / sqrt(row_sum(sums) / float(cols) + param_float(eps));
  EACH_COLUMN(c, cols) {
    float v = (x[from + c] - mean) * scale;
    v *= (given & 1u) != 0u ? weight[weight_offset + c] : 1.0;
    y[row * cols + c] = v + ((given & 2u) != 0u ? bias[bias_offset + c] : 0.0);
  }
}
