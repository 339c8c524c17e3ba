// What the gpu kernels of products share: rows of x and w in units. Define first: the buffer `x` of
// vec4 with `View xv`, what weight_units.glsl needs with `View wv`, `uint shape[4]`, of the
// products, `uint k`, and matrix_of_weights(), where a matrix begins in w.
layout(constant_id = 1) const uint ROWS = 1;
layout(constant_id = 2) const bool WIDE = false;
#include "weight_units.glsl"

float x_element(uint e) { return x[e >> 2][e & 3u]; }

// Four columns of the row of x that begins at an element; 0 from k on.
vec4 load_x(uint row, uint column) {
  if (WIDE) {
    return column < k ? x[(row + column) >> 2] : vec4(0.0);
  }
  vec4 four;
  for (uint i = 0; i < 4u; ++i) {
    four[i] = column + i < k ? x_element(row + column + i) : 0.0;
  }
  return four;
}

float add_products(vec4 a, vec4 b, float sum) {
  return fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, sum))));
}

// Rows of a matrix; past the last one they repeat it.
uint row_of_w(uint matrix, uint column) {
  return unit_row(wv.offset, matrix + min(column, shape[3] - 1u) * wv.strides[2]);
}
uint row_of_x(uint matrix, uint row) { return matrix + min(row, shape[2] - 1u) * xv.strides[2]; }
