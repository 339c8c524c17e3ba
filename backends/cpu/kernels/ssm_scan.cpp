// ssm_scan: heads of sequences, token after token; the elements of a state in vectors.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/ssm_scan.cpp"
#include <algorithm>
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/exp-inl.h"
#include "backends/cpu/kernels/recurrence.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct Scan {
  Recurrence sequences;
  TokenOperand x, dt, b, c, y;
  const float* a;
  std::int64_t heads, head_dim, share, state_dim, a_columns;
};

float softplus(float x) { return std::max(x, 0.0F) + std::log1p(std::exp(-std::abs(x))); }

/// s = s * stays + value * b, for all elements; returns the sum of s * c.
HWY_INLINE float step(const Scan& a, std::int64_t head, float d, float value, const float* b,
                      const float* c, float* state) {
  const F32 f;
  const auto count = static_cast<std::size_t>(a.state_dim);
  const float* own = a.a + head * a.a_columns;
  Vf stays = exp_of(hn::Set(f, d * own[0]));
  Vf sum = hn::Zero(f);
  for (std::size_t n = 0; n < count; n += kLanes) {
    if (a.a_columns > 1) {
      stays = exp_of(hn::Mul(hn::Set(f, d), load_up_to(f, own + n, count - n)));
    }
    const Vf input = hn::Mul(hn::Set(f, value), load_up_to(f, b + n, count - n));
    const Vf s = hn::MulAdd(load_up_to(f, state + n, count - n), stays, input);
    store_up_to(f, s, state + n, count - n);
    sum = hn::MulAdd(s, load_up_to(f, c + n, count - n), sum);
  }
  return hn::GetLane(hn::SumOfLanes(f, sum));
}

/// Items are heads of the first sequence, then of the second...
void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<Scan>();
  const bool begins = work.value(a.sequences.past) <= 0;
  for (std::int64_t item = first; item < end; ++item) {
    const std::int64_t s = item / a.heads;
    const std::int64_t head = item % a.heads;
    float* row = a.sequences.row_of(s);
    if (row == nullptr) {
      leave_out(a.sequences, a.y, s, head, a.head_dim);
      continue;
    }
    row += head * a.head_dim * a.state_dim;
    if (begins && a.sequences.tokens > 0) {
      std::fill_n(row, a.head_dim * a.state_dim, 0.0F);
    }
    const std::int64_t group = head / a.share;
    for (std::int64_t t = 0; t < a.sequences.tokens; ++t) {
      const float d = softplus(*a.dt.at(s, t, head));
      const float* x = a.x.at(s, t, head);
      float* y = a.y.at(s, t, head);
      for (std::int64_t i = 0; i < a.head_dim; ++i) {
        y[i] = step(a, head, d, d * x[i], a.b.at(s, t, group), a.c.at(s, t, group),
                    row + i * a.state_dim);
      }
    }
  }
}

}  // namespace

bool plan_ssm_scan(const KernelCall& call, KernelPlan& plan) {
  const HostTensor& x = call.tensors[1];
  const HostTensor& b = call.tensors[4];
  const Shape& state = call.tensors[0].shape();
  const Recurrence sequences(call, x, call.tensors[6]);
  const bool batched = sequences.batched;
  const std::int64_t heads = state.dim(1);
  const Scan arguments{.sequences = sequences,
                       .x = {x, batched, true},
                       .dt = {call.tensors[2], batched, false},
                       .b = {b, batched, true},
                       .c = {call.tensors[5], batched, true},
                       .y = {call.tensors[7], batched, true},
                       .a = reinterpret_cast<const float*>(call.tensors[3].data),
                       .heads = heads,
                       .head_dim = state.dim(2),
                       .share = heads / b.shape().dim(b.shape().rank() - 2),
                       .state_dim = state.back(),
                       .a_columns = call.tensors[3].shape().back()};
  plan.main.run = run;
  plan.main.items = sequences.sequences * heads;
  plan.main.item_ns =
      static_cast<double>(sequences.tokens * arguments.head_dim * arguments.state_dim) / 4;
  plan.set_arguments(arguments);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(ssm_scan)
#endif
