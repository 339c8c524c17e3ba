#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// Inputs of the gated delta rule for each token. All f32; the elements of a last dimension are
/// neighbours.
struct GatedDeltaInputs {
  TensorArgument q;     // [tokens, key_heads, key_dim]
  TensorArgument k;     // as q, usually of length 1
  TensorArgument v;     // [tokens, heads, value_dim]
  TensorArgument gate;  // [tokens, heads]: logarithms of how much of the state stays, at most 0
  TensorArgument beta;  // [tokens, heads]: how much of a value is written, from 0 to 1
};

struct GatedDeltaAttributes {
  Param<float> scale = 0.0F;     // of the results; 0: 1 / sqrt(key_dim)
  Param<std::int32_t> past = 1;  // tokens before these; if not above 0, sequences begin here
};

/// Computes linear attention with the gated delta rule, token after token, also in prompts. Per
/// head h, which reads key head h / (heads / key_heads): S = exp(gate) * S, then S = S + k * (beta
/// * (v - k^T S)), y = scale * q^T S. States in f32, f64 in the reference within a call.
///
/// `state` is updated in place: S before the first token and after the last one. It counts as zeros
/// if past is not above 0. Sequence s uses row ids[s], or row s without ids ({}). No other operand
/// may share memory with `state`. A sequence whose id is out of range gives NaN. Sequences
/// with equal ids give unspecified values.
/// Shapes: inputs may have [sequences, ..] in front of tokens; y: as v, contiguous; state: [slots,
/// heads, key_dim, value_dim] f32, contiguous; ids: i32 [sequences].
/// Errors: invalid_argument if shapes do not match or heads is no multiple of key_heads.
/// Source: Yang, Kautz & Hatamizadeh 2024, "Gated Delta Networks", equation 10, transposed.
[[nodiscard]] Tensor gated_delta(Site site, TensorRef state, const GatedDeltaInputs& in,
                                 TensorRef ids = {}, GatedDeltaAttributes attributes = {});

}  // namespace reprise
