// gated_delta: heads of sequences, token after token; columns of a state in vectors.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/gated_delta.cpp"
#include <algorithm>
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/recurrence.h"
#include "backends/cpu/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct Delta {
  Recurrence sequences;
  TokenOperand q, k, v, gate, beta, y;
  std::int64_t heads, share, key_dim, value_dim;
  Param<float> scale;
  float factor;  // what a scale of 0 stands for
};

/// What a token does to a head.
struct Token {
  const float* q;
  const float* k;
  float stays, beta, scale;
};

/// `left` columns of a state or more, one vector of them.
HWY_INLINE void step(const Delta& a, const Token& token, const float* v, float* state, float* y,
                     std::size_t left) {
  const F32 d;
  const Vf stays = hn::Set(d, token.stays);
  Vf known = hn::Zero(d);
  for (std::int64_t i = 0; i < a.key_dim; ++i) {
    const Vf s = hn::Mul(stays, load_up_to(d, state + i * a.value_dim, left));
    known = hn::MulAdd(s, hn::Set(d, token.k[i]), known);
  }
  const Vf added = hn::Mul(hn::Set(d, token.beta), hn::Sub(load_up_to(d, v, left), known));
  Vf sum = hn::Zero(d);
  for (std::int64_t i = 0; i < a.key_dim; ++i) {
    float* at = state + i * a.value_dim;
    const Vf s = hn::MulAdd(added, hn::Set(d, token.k[i]), hn::Mul(stays, load_up_to(d, at, left)));
    store_up_to(d, s, at, left);
    sum = hn::MulAdd(s, hn::Set(d, token.q[i]), sum);
  }
  store_up_to(d, hn::Mul(hn::Set(d, token.scale), sum), y, left);
}

/// Items are heads of the first sequence, then of the second...
void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<Delta>();
  const bool begins = work.value(a.sequences.past) <= 0;
  const float scale = work.value(a.scale);
  const auto columns = static_cast<std::size_t>(a.value_dim);
  for (std::int64_t item = first; item < end; ++item) {
    const std::int64_t s = item / a.heads;
    const std::int64_t head = item % a.heads;
    float* state = a.sequences.row_of(s);
    if (state == nullptr) {
      leave_out(a.sequences, a.y, s, head, a.value_dim);
      continue;
    }
    state += head * a.key_dim * a.value_dim;
    if (begins && a.sequences.tokens > 0) {
      std::fill_n(state, a.key_dim * a.value_dim, 0.0F);
    }
    for (std::int64_t t = 0; t < a.sequences.tokens; ++t) {
      const Token token{.q = a.q.at(s, t, head / a.share),
                        .k = a.k.at(s, t, head / a.share),
                        .stays = std::exp(*a.gate.at(s, t, head)),
                        .beta = *a.beta.at(s, t, head),
                        .scale = scale == 0 ? a.factor : scale};
      for (std::size_t c = 0; c < columns; c += kLanes) {
        step(a, token, a.v.at(s, t, head) + c, state + c, a.y.at(s, t, head) + c, columns - c);
      }
    }
  }
}

}  // namespace

bool plan_gated_delta(const KernelCall& call, KernelPlan& plan) {
  const HostTensor& v = call.tensors[3];
  const HostTensor& q = call.tensors[1];
  const Shape& state = call.tensors[0].shape();
  const Recurrence sequences(call, v, call.tensors[6], v.shape().rank() == 4);
  const bool batched = sequences.batched;
  const std::int64_t heads = state.dim(1);
  const Delta arguments{
      .sequences = sequences,
      .q = {q, batched, true},
      .k = {call.tensors[2], batched, true},
      .v = {v, batched, true},
      .gate = {call.tensors[4], batched, false},
      .beta = {call.tensors[5], batched, false},
      .y = {call.tensors[7], batched, true},
      .heads = heads,
      .share = heads / q.shape().dim(q.shape().rank() - 2),
      .key_dim = state.dim(2),
      .value_dim = state.back(),
      .scale = attribute<Param<float>>(call, "scale"),
      .factor = static_cast<float>(1 / std::sqrt(static_cast<double>(state.dim(2))))};
  plan.main.run = run;
  plan.main.items = sequences.sequences * heads;
  plan.main.item_ns =
      static_cast<double>(sequences.tokens * arguments.key_dim * arguments.value_dim) / 4;
  plan.set_arguments(arguments);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(gated_delta)
#endif
