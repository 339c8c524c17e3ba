#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// What the gated delta rule reads for each token. All f32; the elements of a last dimension are
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

/// Linear attention with the gated delta rule. Per head h, which reads key head h / (heads /
/// key_heads): S = exp(gate) * S, then S = S + k * (beta * (v - k^T S)), y = scale * q^T S.
/// All may have [sequences, ..] in front of tokens. y: as v, contiguous.
/// state: [slots, heads, key_dim, value_dim] f32, contiguous, in place: S before the first token
/// and after the last one. Sequence s uses row ids[s], i32 [sequences], or without ids ({}) row s.
/// If past is not above 0, it counts as zeros. No other operand may share memory with it. A
/// sequence whose id is outside the table gives NaN; of sequences with equal ids, which one goes
/// first is unspecified.
/// Errors: invalid_argument if shapes do not match or heads is no multiple of key_heads.
/// Source: Yang, Kautz & Hatamizadeh 2024, "Gated Delta Networks", equation 10, transposed; token
/// after token, also in prompts. States in f32, f64 in the reference within a call.
[[nodiscard]] Tensor gated_delta(Site site, TensorRef state, const GatedDeltaInputs& in,
                                 TensorRef ids = {}, GatedDeltaAttributes attributes = {});

}  // namespace reprise
