// y = x / max(sqrt(sum(x^2)), eps). Reads a row twice (the second time from a cache), writes y once,
// 4 bytes per element each. Include row.glsl or row_group.glsl first.
#define STATE_BINDING 2
#include "state.glsl"
#include "view.glsl"

layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View xv;
  Param eps;
};

void main() {
  uint row = row_index();
  if (row >= row_count(shape)) {
    return;
  }
  uint cols = shape[3];
  uint from = at(xv, row_position(row, shape));
  float sums[8] = float[8](0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
  EACH_COLUMN(c, cols) { sums[part] = fma(x[from + c], x[from + c], sums[part]); }
  float sum = row_sum(sums);
  // By bits: drivers may ignore NaN in comparisons.
  bool is_nan = (floatBitsToUint(sum) & 0x7FFFFFFFu) > 0x7F800000u;
  float norm = sqrt(sum);
  float scale = 1.0 / (!is_nan && norm < param_float(eps) ? param_float(eps) : norm);
  EACH_COLUMN(c, cols) { y[row * cols + c] = x[from + c] * scale; }
}
