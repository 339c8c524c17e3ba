// ssm_scan: heads of sequences, token after token; the elements of a state in vectors.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/ssm_scan.cpp"
#include <algorithm>
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/exp-inl.h"
#include "backends/cpu/kernels/recurrence.h"

// Guards itself; after Highway's own headers.
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct Scan {
  Recurrence sequences;
  TokenOperand x, dt, b, c, y;
  const float* a;
  std::int64_t heads, head_dim, share, state_dim, a_columns;
  std::int64_t block, blocks;  // heads of an item; items of a sequence
};

// Heads of an item: as many small ones as softplus takes at once, a large one alone.
constexpr std::int64_t kLargeHead = 256;  // elements

/// Of NaN it is NaN.
HWY_INLINE Vf softplus(Vf x) {
  const F32 f;
  return hn::Add(hn::Max(x, hn::Zero(f)), hn::Log1p(f, exp_of(hn::Neg(hn::Abs(x)))));
}

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

/// Items are blocks of heads of the first sequence, then of the second...
void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<Scan>();
  const F32 f;
  const bool begins = work.value(a.sequences.past) <= 0;
  for (std::int64_t item = first; item < end; ++item) {
    const std::int64_t s = item / a.blocks;
    const std::int64_t from = item % a.blocks * a.block;
    const std::int64_t to = std::min(from + a.block, a.heads);
    float* const row = a.sequences.row_of(s);
    if (row == nullptr) {
      for (std::int64_t head = from; head < to; ++head) {
        leave_out(a.sequences, a.y, s, head, a.head_dim);
      }
      continue;
    }
    const std::int64_t elements = a.head_dim * a.state_dim;
    if (begins && a.sequences.tokens > 0) {
      std::fill_n(row + from * elements, (to - from) * elements, 0.0F);
    }
    for (std::int64_t t = 0; t < a.sequences.tokens; ++t) {
      HWY_ALIGN float d[kLanes];
      const auto count = static_cast<std::size_t>(to - from);
      hn::Store(softplus(load_up_to(f, a.dt.at(s, t, from), count)), f, d);
      for (std::int64_t head = from; head < to; ++head) {
        const float* const x = a.x.at(s, t, head);
        float* const y = a.y.at(s, t, head);
        const float* const b = a.b.at(s, t, head / a.share);
        const float* const c = a.c.at(s, t, head / a.share);
        const float dt = d[head - from];
        for (std::int64_t i = 0; i < a.head_dim; ++i) {
          y[i] = step(a, head, dt, dt * x[i], b, c, row + head * elements + i * a.state_dim);
        }
      }
    }
  }
}

}  // namespace

bool plan_ssm_scan(const KernelCall& call, KernelPlan& plan) {
  const HostTensor& x = call.tensors[1];
  const HostTensor& b = call.tensors[4];
  const Shape& state = call.tensors[0].shape();
  const Recurrence sequences(call, x, call.tensors[6], x.shape().rank() == 4);
  const bool batched = sequences.batched;
  const std::int64_t heads = state.dim(1);
  const std::int64_t block = std::clamp<std::int64_t>(kLargeHead / (state.dim(2) * state.back()), 1,
                                                      static_cast<std::int64_t>(kLanes));
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
                       .a_columns = call.tensors[3].shape().back(),
                       .block = block,
                       .blocks = (heads + block - 1) / block};
  plan.main.run = run;
  plan.main.items = sequences.sequences * arguments.blocks;
  plan.main.item_ns =
      static_cast<double>(sequences.tokens * block * arguments.head_dim * arguments.state_dim) / 4;
  plan.set_arguments(arguments);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(ssm_scan)
#endif
