#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

/// Inputs of a scan for each token. All f32; the elements of a last dimension are neighbours.
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

/// Computes the selective scan of a state-space model. Per head h of group h / (heads / groups) and
/// element i: d = softplus(dt[t, h]), s[n] = exp(d * a[h, n]) * s[n] + d * x[t, h, i] * b[t, group,
/// n], y[t, h, i] = sum of s[n] * c[t, group, n]. Mamba-1 has one head per channel, of one element.
/// States in f32, f64 in the reference within a call.
///
/// `state` is updated in place: s before the first token and after the last one. It counts as zeros
/// if past is not above 0. Sequence s uses row ids[s], or row s without ids ({}). No other operand
/// may share memory with `state`. A sequence whose id is out of range gives NaN. Sequences
/// with equal ids give unspecified values.
/// Shapes: x, dt, b and c may have [sequences, ..] in front; y: as x, contiguous; state: [slots,
/// heads, head_dim, state_dim] f32, contiguous; ids: i32 [sequences].
/// Errors: invalid_argument if shapes do not match.
/// Source: Gu & Dao 2023, "Mamba", algorithm 2 with the discretisation of section 3.3 as in its
/// code (b times the step); Dao & Gu 2024, section 5 (one a per head).
[[nodiscard]] Tensor ssm_scan(Site site, TensorRef state, const SsmScanInputs& in,
                              TensorRef ids = {}, SsmScanAttributes attributes = {});

}  // namespace reprise
