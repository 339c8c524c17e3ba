// The largest element or the mean of a window: one invocation computes one element. Reads its
// window, writes 4 bytes.
// variants: pool_1d pool_2d
#version 450
#extension GL_GOOGLE_include_directive : require
#include "float_key.glsl"
#include "index.glsl"
#include "view.glsl"

layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View xv;
  uint in_height;
  uint in_width;
  uint height;
  uint width;
  uint stride_y;
  uint stride_x;
  uint padding_y;
  uint padding_x;
  uint mean;
  uint elements;
};

bool is_nan(uint bits) { return (bits & 0x7FFFFFFFu) > 0x7F800000u; }

void main() {
  uint i = linear_index();
  if (i >= elements) {
    return;
  }
  uvec4 at_y = unflatten(i, shape);
#ifdef VARIANT_POOL_1D
  const uint rows = 1u;
#else
  uint rows = height;
#endif
  float sum = 0.0;
  uint largest = 0xFF800000u;
  for (uint ty = 0u; ty < rows; ++ty) {
#ifdef VARIANT_POOL_1D
    uint row = at_y.z;
#else
    // Before the first row or column these wrap, which is past the last one.
    uint row = at_y.z * stride_y + ty - padding_y;
    if (row >= in_height) {
      continue;
    }
#endif
    for (uint tx = 0u; tx < width; ++tx) {
      uint column = at_y.w * stride_x + tx - padding_x;
      if (column >= in_width) {
        continue;
      }
      float element = x[at(xv, uvec4(at_y.x, at_y.y, row, column))];
      sum += element;
      uint bits = floatBitsToUint(element);
      if (!is_nan(largest) && (is_nan(bits) || key_of(bits) > key_of(largest))) {
        largest = bits;
      }
    }
  }
  y[i] = mean != 0u ? sum / float(rows * width) : uintBitsToFloat(largest);
}
