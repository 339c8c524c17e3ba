#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

struct SsmConvAttributes {
  Param<std::int32_t> past = 1;  // tokens before these; if not above 0, sequences begin here
};

/// Causal convolution per channel over the tokens of a sequence, as state-space models have it in
/// front: y[t, c] = sum of w[c, k] * x[t - (width - 1) + k, c] + bias[c]. Tokens before the first
/// one come from `state`, which then holds the last width - 1 tokens of x, and those before them.
/// x, y: [tokens, channels] or [sequences, tokens, channels] f32, any strides; w: [channels, width]
/// f32; bias: [channels] f32, may be absent ({}). state: [slots, channels, width - 1] f32,
/// contiguous, in place; sequence s uses row ids[s], i32 [sequences], or without ids ({}) row s. x
/// must not share memory with state. If past is not above 0, the state counts as zeros.
/// A sequence whose id is outside the table gives NaN; of sequences with equal ids, which one goes
/// first is unspecified.
/// Errors: invalid_argument if shapes do not match or width is below 2.
/// Source: Gu & Dao 2023, "Mamba", section 3.4. Sums in f32, f64 in the reference.
[[nodiscard]] Tensor ssm_conv(Site site, TensorRef state, TensorRef x, TensorRef w,
                              TensorRef bias = {}, TensorRef ids = {}, SsmConvAttributes a = {});

}  // namespace reprise
