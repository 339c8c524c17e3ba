#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// A contiguous copy of any view: f32, f16 or i32, bits kept.
[[nodiscard]] Tensor copy(Site site, TensorRef x);

/// A contiguous copy in another dtype: f32 to f16 rounds to nearest even, keeps subnormals and
/// overflows to infinity; f16 to f32 is exact; to its own dtype it keeps bits.
/// Errors: invalid_argument for other pairs of dtypes.
[[nodiscard]] Tensor cast(Site site, TensorRef x, DType dtype);

}  // namespace reprise
