#pragma once
#include <limits>

#include "reprise/core/recorder.h"

namespace reprise {

struct AttentionAttributes {
  /// Keys in use, limited to [0, capacity]. By default all of them.
  Param<std::int32_t> kv_len = std::numeric_limits<std::int32_t>::max();
  Param<float> scale = 0.0F;     // of the scores; 0: 1 / sqrt(dim)
  bool causal = true;            // row r sees keys up to kv_len - rows + r: the last row sees all
  const Tensor* mask = nullptr;  // f32 or f16 [rows, keys], added to the scaled scores
};

/// Scaled dot-product attention: softmax(scale * q * k^T + mask) * v, per row and head.
/// q: [rows, heads, dim] f32; k: [capacity, kv_heads, dim], v: [capacity, kv_heads, value_dim], f32
/// or f16 alike; all may be strided. Head h reads kv head h / (heads / kv_heads).
/// Returns [rows, heads, value_dim] f32. Keys past the columns of the mask are not seen, nor are
/// those whose mask is -infinity; a row that sees no key gives zeros.
/// Errors: invalid_argument if shapes or the dtypes of k and v do not match, capacity is 0, or
/// heads is no multiple of kv_heads.
/// Source: Milakov & Gimelshein 2018 (online softmax), Dao et al. 2022. f32 sums, f64
/// and two passes in the reference.
[[nodiscard]] Tensor attention(Site site, TensorRef q, TensorRef k, TensorRef v,
                               AttentionAttributes a = {});

}  // namespace reprise
