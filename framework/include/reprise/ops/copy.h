#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// A contiguous copy of any view, bits kept: every dtype but i64.
[[nodiscard]] Tensor copy(Site site, TensorRef x);

/// A contiguous copy in another dtype: f32 to f16, bf16, q8_0 or q4_0, rounded as core/encode.h
/// says; f16, bf16 and every block format to f32, as core/decode.h says; to its own dtype it keeps
/// bits.
/// Errors: invalid_argument for other pairs of dtypes, and for rows that would split a block.
[[nodiscard]] Tensor cast(Site site, TensorRef x, DType dtype);

}  // namespace reprise
