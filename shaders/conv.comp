// y[b, o, r, l] = sum of w[o, c, ty, tx] * x[b, c, row, column], zeros outside x: one invocation
// computes one element. Reads all taps of its output and as many elements of x, writes 4 bytes.
// variants: conv_1d_f32 conv_1d_f16 conv_2d_f32 conv_2d_f16
#version 450
#extension GL_GOOGLE_include_directive : require
#if defined(VARIANT_CONV_1D_F16) || defined(VARIANT_CONV_2D_F16)
#extension GL_EXT_shader_16bit_storage : require
#define WEIGHT uint16_t
#define TO_FLOAT(e) unpackHalf2x16(uint(e)).x
#else
#define WEIGHT float
#define TO_FLOAT(e) (e)
#endif
#include "index.glsl"

layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer W { WEIGHT w[]; };
layout(binding = 2) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push {
  uint x_offset;
  uint x_strides[4];
  uint height;
  uint width;
  uint outputs;
  uint out_height;
  uint out_width;
  uint channels;
  uint taps_y;
  uint taps_x;
  uint stride_y;
  uint stride_x;
  uint padding_y;
  uint padding_x;
  uint dilation_y;
  uint dilation_x;
  uint group_outputs;
  uint w_offset;
  uint elements;
};

void main() {
  uint i = linear_index();
  if (i >= elements) {
    return;
  }
  uint l = i % out_width;
  uint r = i / out_width % out_height;
  uint o = i / out_width / out_height % outputs;
  uint batch = i / out_width / out_height / outputs;
#if defined(VARIANT_CONV_1D_F32) || defined(VARIANT_CONV_1D_F16)
  const uint rows = 1u;
#else
  uint rows = taps_y;
#endif
  uint from = x_offset + batch * x_strides[0] + o / group_outputs * channels * x_strides[1];
  uint weight = w_offset + o * channels * rows * taps_x;
  float sum = 0.0;
  for (uint c = 0u; c < channels; ++c) {
    for (uint ty = 0u; ty < rows; ++ty) {
      // Before the first row or column these wrap, which is past the last one.
      uint row = r * stride_y + ty * dilation_y - padding_y;
      for (uint tx = 0u; tx < taps_x; ++tx, ++weight) {
        uint column = l * stride_x + tx * dilation_x - padding_x;
        if (row < height && column < width) {
          sum = fma(TO_FLOAT(w[weight]), x[from + row * x_strides[2] + column * x_strides[3]], sum);
        }
      }
    }
    from += x_strides[1];
  }
  y[i] = sum;
}
