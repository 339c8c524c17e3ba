// The sum, mean or largest element of each row; `sum` takes the whole tensor for one row. Reads 4
// bytes per element, writes 4 per row. Include row.glsl or row_group.glsl first.
#include "float_key.glsl"
#include "view.glsl"

layout(binding = 0) readonly buffer X { uint x[]; };
layout(binding = 1) writeonly buffer Y { uint y[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View xv;
  uint elements;
};

void main() {
  uint row = row_index();
#if defined(VARIANT_SUM)
  uint rows = 1u;
  uint cols = elements;
#define VALUE(c) x[at(xv, unflatten(c, shape))]
#else
  uint rows = row_count(shape);
  uint cols = shape[3];
  uint from = at(xv, row_position(row, shape));
#define VALUE(c) x[from + (c)*xv.strides[3]]
#endif
  if (row >= rows) {
    return;
  }
#if defined(VARIANT_MAX)
  uint key = 0u;
  EACH_COLUMN(c, cols) { key = max(key, key_below_nan(VALUE(c))); }
  key = row_max(key);
  uint result = key == 0xFFFFFFFFu ? 0x7FC00000u : bits_of_key(key);
#else
  float sums[8] = float[8](0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
  EACH_COLUMN(c, cols) { sums[part] += uintBitsToFloat(VALUE(c)); }
  float sum = row_sum(sums);
#if defined(VARIANT_MEAN)
  sum /= float(cols);
#endif
  uint result = floatBitsToUint(sum);
#endif
  if (row_writer()) {
    y[row] = result;
  }
}
