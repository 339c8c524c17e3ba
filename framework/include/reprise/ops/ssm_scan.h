#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// What a scan reads for each token. All f32; the elements of a last dimension are neighbours.
struct SsmScanInputs {
  TensorArgument x;   // [tokens, heads, head_dim]
  TensorArgument dt;  // [tokens, heads]: time steps before softplus
  TensorArgument a;   // [heads, state_dim], Mamba-1, or [heads, 1], Mamba-2: usually negative
  TensorArgument b;   // [tokens, groups, state_dim]
  TensorArgument c;   // as b
};

struct SsmScanAttributes {
  Param<std::int32_t> past = 1;  // tokens before these; if not above 0, sequences begin here
};

/// Selective scan of a state-space model. Per head h of group h / (heads / groups) and element i:
/// d = softplus(dt[t, h]), s[n] = exp(d * a[h, n]) * s[n] + d * x[t, h, i] * b[t, group, n],
/// y[t, h, i] = sum of s[n] * c[t, group, n]. Mamba-1 has one head per channel, of one element.
/// x, dt, b and c may have [sequences, ..] in front. y: as x, contiguous.
/// state: [slots, heads, head_dim, state_dim] f32, contiguous, in place: s before the first token
/// and after the last one. Sequence s uses row ids[s], i32 [sequences], or without ids ({}) row s.
/// If past is not above 0, it counts as zeros. No other operand may share memory with it.
/// A sequence whose id is outside the table gives NaN; of sequences with equal ids, which one goes
/// first is unspecified.
/// Errors: invalid_argument if shapes do not match.
/// Source: Gu & Dao 2023, "Mamba", algorithm 2 with the discretisation of section 3.3 as in its
/// code (b times the step); Dao & Gu 2024, section 5 (one a per head). States in f32, f64 in the
/// reference within a call.
[[nodiscard]] Tensor ssm_scan(Site site, TensorRef state, const SsmScanInputs& in,
                              TensorRef ids = {}, SsmScanAttributes attributes = {});

}  // namespace reprise
