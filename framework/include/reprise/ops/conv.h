#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

struct Conv1dAttributes {
  std::int32_t stride = 1;
  std::int32_t padding = 0;   // on both sides; a tap there is left out
  std::int32_t dilation = 1;  // distance between the taps
  std::int32_t groups = 1;    // of channels, with outputs of their own; one per channel: depthwise
};

/// Convolves over the last dimension, as neural networks do (the kernel is not turned): y[b, o, l]
/// = sum of w[o, c, t] * x[b, c, l * stride + t * dilation - padding]. Sums in f32, f64 in the
/// reference.
/// Shapes: x: [channels, length] or [batch, channels, length] f32, any strides; w: [outputs,
/// channels / groups, width] f32 or f16; y: [(batch,) outputs, (length + 2 * padding - dilation *
/// (width - 1) - 1) / stride + 1] f32.
/// Errors: invalid_argument if channels do not match, channels or outputs are no multiple of
/// groups, a number is out of range, or y would be empty.
/// Source: Dumoulin & Visin 2016, "A guide to convolution arithmetic".
[[nodiscard]] Tensor conv_1d(Site site, TensorRef x, TensorRef w, Conv1dAttributes a = {});

struct Conv2dAttributes {
  std::int32_t stride_y = 1, stride_x = 1;
  std::int32_t padding_y = 0, padding_x = 0;
  std::int32_t dilation_y = 1, dilation_x = 1;
  std::int32_t groups = 1;
};

/// Convolves over the last two dimensions, likewise.
/// Shapes: x: [channels, height, width] or [batch, channels, height, width]; w: [outputs, channels
/// / groups, kernel height, kernel width].
[[nodiscard]] Tensor conv_2d(Site site, TensorRef x, TensorRef w, Conv2dAttributes a = {});

}  // namespace reprise
