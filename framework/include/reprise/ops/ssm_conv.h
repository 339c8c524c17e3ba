#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

struct SsmConvAttributes {
  Param<std::int32_t> past = 1;  // tokens before these; if not above 0, sequences begin here
};

/// Convolves each channel over the tokens of a sequence, causally, as state-space models do first:
/// y[t, c] = sum of w[c, k] * x[t - (width - 1) + k, c] + bias[c]. Sums in f32, f64 in the
/// reference.
///
/// Tokens before the first one come from `state`, which then holds the last width - 1 tokens of x,
/// and those before them. It counts as zeros if past is not above 0. Sequence s uses row ids[s], or
/// row s without ids ({}). x must not share memory with state. A sequence whose id is out of range
/// gives NaN. Sequences with equal ids give unspecified values.
/// Shapes: x, y: [tokens, channels] or [sequences, tokens, channels] f32, any strides; w:
/// [channels, width] f32; bias: [channels] f32, may be absent ({}); state: [slots, channels, width
/// - 1] f32, contiguous, in place; ids: i32 [sequences].
/// Errors: invalid_argument if shapes do not match or width is below 2.
/// Source: Gu & Dao 2023, "Mamba", section 3.4.
[[nodiscard]] Tensor ssm_conv(Site site, TensorRef state, TensorRef x, TensorRef w,
                              TensorRef bias = {}, TensorRef ids = {}, SsmConvAttributes a = {});

}  // namespace reprise
