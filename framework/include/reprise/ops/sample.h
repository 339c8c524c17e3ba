#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// Maximum length of a row that sample() chooses from.
inline constexpr std::int64_t kMaxSampledTokens = std::int64_t{1} << 22U;

struct SampleAttributes {
  Param<float> temperature = 1.0F;         // 0 chooses the largest logit
  Param<std::int32_t> top_k = 0;           // 0 or less keeps all
  Param<float> top_p = 1.0F;               // 1 keeps all
  Param<float> min_p = 0.0F;               // 0 keeps all
  Param<float> repetition_penalty = 1.0F;  // 1 changes nothing; needs `recent`
  Param<std::int32_t> seed = 0;
  Param<std::int32_t> position = 0;  // counts the draws of a seed
  TensorArgument recent{};           // i32 [n], or [rows, n]: tokens that are penalised
};

/// Draws a token for each row, with the probabilities softmax(logits / temperature) has after
/// filters. The filters, in this order, as the samplers of llama.cpp apply them by default:
/// 1. repetition_penalty: logits of recent tokens are divided by it, those of 0 and less
///    multiplied, once per token. Recent ids that are no token (-1) count as none.
/// 2. top_k keeps the k largest logits; among equal ones those with lower ids.
/// 3. top_p keeps the largest of these, in the same order, until their probabilities reach top_p.
/// 4. min_p keeps the tokens with at least min_p times the largest probability.
/// 5. temperature divides the logits. The probabilities of 3 and 4 are those of temperature 1.
/// NaN and -infinity are never drawn if a row has others; rows of NaN alone give token 0. Infinite
/// logits share the draw. A token that is less likely than 2^-30 of the most likely one is not
/// drawn.
///
/// A draw is a function of seed, position, row and logits. Philox4x32-10
/// (shaders/include/philox.glsl) of the counter {position, row, 0, 0} and the key {seed, 0} gives a
/// word u. Probabilities are integers w = floor(2^30 * exp(logit - largest)). The token is the
/// first, by id, up to which the kept ones sum up to more than floor(sum of all * u / 2^32). Sums
/// of integers do not depend on their order; exp and the divisions take only f32 sums, products
/// and nearest integers that are rounded alike everywhere. So the token is the same on every device that rounds to
/// nearest, except for penalised logits below the smallest normal number.
///
/// In the state, a temperature that is not above 2^-100 or is NaN counts as 0, one above 2^100 as
/// 2^100. top_p and min_p are limited to [0, 1], NaN keeps all. A repetition_penalty outside
/// [2^-100, 2^100] or NaN counts as 1.
/// Shapes: logits: [rows, tokens] f32, rows may be strided; result: i32 [rows].
/// Errors: invalid_argument if the rank of logits is not 2, a row has 0 or more than
/// kMaxSampledTokens tokens, recent has other rows, or a constant is negative, NaN or infinite, for
/// top_p and min_p above 1, for repetition_penalty 0; unsupported where a software driver would not
/// finish a row.
/// Source: llama.cpp, common/sampling.h (order of samplers) and src/llama-sampling.cpp; Keskar et
/// al. 2019 (penalty), Holtzman et al. 2020 (top_p), Nguyen et al. 2024 (min_p), Salmon et al.
/// 2011.
[[nodiscard]] Tensor sample(Site site, TensorRef logits, SampleAttributes a = {});

}  // namespace reprise
