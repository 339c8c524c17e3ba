#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// Returns a contiguous copy of any view, bits kept: every dtype but i64.
[[nodiscard]] Tensor copy(Site site, TensorRef x);

/// Returns a contiguous copy in a different dtype: f32 to f16, bf16, q8_0 or q4_0, rounded as in
/// core/encode.h; f16, bf16 and every block format to f32, as in backend/decode.h. A copy in its
/// own dtype keeps bits. Errors: invalid_argument for other pairs of dtypes, and for rows that
/// would split a block.
[[nodiscard]] Tensor cast(Site site, TensorRef x, DType dtype);

}  // namespace reprise
