#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

enum class PoolMode : std::int32_t {
  max,   // the largest element in the window; NaN if one of them is
  mean,  // over the whole window: elements outside x count as 0
};

struct Pool1dAttributes {
  std::int32_t width = 2;
  std::int32_t stride = 0;   // 0: width
  std::int32_t padding = 0;  // on both sides, less than width
  PoolMode mode = PoolMode::max;
};

/// Reduces each window of the last dimension to one number.
/// Shapes: x: [.., length] f32, any strides; y: [.., (length + 2 * padding - width) / stride + 1]
/// f32.
/// Errors: invalid_argument if a number is out of range or y would be empty.
/// Source: Dumoulin & Visin 2016, "A guide to convolution arithmetic", section 3.
[[nodiscard]] Tensor pool_1d(Site site, TensorRef x, Pool1dAttributes a = {});

struct Pool2dAttributes {
  std::int32_t height = 2, width = 2;
  std::int32_t stride_y = 0, stride_x = 0;  // 0: height, width
  std::int32_t padding_y = 0, padding_x = 0;
  PoolMode mode = PoolMode::max;
};

/// Reduces windows of the last two dimensions, likewise.
[[nodiscard]] Tensor pool_2d(Site site, TensorRef x, Pool2dAttributes a = {});

}  // namespace reprise
