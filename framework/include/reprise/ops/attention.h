#pragma once
#include <limits>
#include <optional>

#include "reprise/core/recorder.h"

namespace reprise {

struct AttentionAttributes {
  static constexpr std::int32_t kAllKeys = std::numeric_limits<std::int32_t>::max();
  /// Number of keys in use, limited to [0, capacity]. By default all of them.
  Param<std::int32_t> kv_len = kAllKeys;
  /// Number of keys before those of the rows of q: past + rows are in use, limited to [0,
  /// capacity]. Replaces kv_len where the keys of the rows were just written behind `past` others.
  /// The number of rows is that of q then, which no field of the state can contradict.
  std::optional<Param<std::int32_t>> past = std::nullopt;
  Param<float> scale = 0.0F;  // of the scores; 0: 1 / sqrt(dim)
  bool causal = true;         // row r sees keys up to its place: keys in use - rows + r
  TensorArgument mask{};      // f32 or f16 [rows, keys], added to the scaled scores
  /// Above 0: scores become softcap * tanh(score / softcap), before a mask is added.
  Param<float> softcap = 0.0F;
  /// Above 0: ALiBi. The mask is multiplied by a slope per head; without a mask, slope * |place of
  /// the row - key| is subtracted from the score. The slope of head h is 2^(-max_bias * (h + 1) /
  /// n), where n is the largest power of two in heads; for heads from n on, 2^(-max_bias * (h - n +
  /// 0.5) / n).
  Param<float> max_bias = 0.0F;
  /// Above 0: a row does not see keys that are this many or more before its place. If causal, it
  /// sees window keys.
  Param<std::int32_t> window = 0;
  /// f32 [heads]: a score per head that takes its share of the weights and has no value.
  TensorArgument sinks{};
};

/// Computes scaled dot-product attention: softmax(scale * q * k^T + mask) * v, per row and head.
/// Head h reads kv head h / (heads / kv_heads). Sums are f32; f64 and two passes in the reference.
///
/// A key does not count for a row that does not see it, if it is past the columns of the mask, or
/// if its mask or score is -infinity. The values of its k and v then change nothing, NaN included.
/// A row for which no key counts gives zeros, with any sink. A score of NaN or +infinity, or a sink
/// of NaN, makes NaN of its row.
///
/// In the state, a softcap or max_bias that is no positive normal number counts as 0. So does a
/// window not above 0. past + rows below 0 is limited like any other number.
/// Shapes: q: [rows, heads, dim] f32; k: [capacity, kv_heads, dim], v: [capacity, kv_heads,
/// value_dim], both f32, f16 or q8_0; result: [rows, heads, value_dim] f32. All may be strided, but
/// blocks lie one after another.
/// Errors: invalid_argument if shapes or the dtypes of k and v do not match, capacity is 0, heads
/// is no multiple of kv_heads, kv_len and past are both given, a constant past leaves no room for
/// the keys of the rows, or a constant past, softcap, max_bias or window is negative or not finite.
/// Source: Milakov & Gimelshein 2018 (online softmax), Dao et al. 2022; Press et al. 2022 (ALiBi),
/// Gemma Team 2024 (softcap), Xiao et al. 2024 (sinks).
[[nodiscard]] Tensor attention(Site site, TensorRef q, TensorRef k, TensorRef v,
                               AttentionAttributes a = {});

}  // namespace reprise
