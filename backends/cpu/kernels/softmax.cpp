// softmax, log_softmax: the largest score of a row, then exponentials where results go, then their
// shares. A row stays in the cache meanwhile, so that memory is read and written once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/softmax.cpp"
#include <cmath>
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/alibi.h"
#include "backends/cpu/kernels/exp-inl.h"
#include "backends/cpu/kernels/operands.h"
#include "backends/cpu/kernels/row_fold-inl.h"
#include "backends/cpu/kernels/weights-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

/// A mask with at least the rows of x, whose outer dimensions repeat.
struct Mask {
  const std::byte* data = nullptr;
  std::array<std::int64_t, 4> dims{}, strides{};  // in bytes
  const std::byte* row(std::int64_t i0, std::int64_t i1, std::int64_t i2) const {
    return data + i0 % dims[0] * strides[0] + i1 % dims[1] * strides[1] + i2 * strides[2];
  }
};

struct Softmax {
  Rows x;
  float* y;
  Mask mask;
  const float* sinks;  // null: none
  Param<float> scale, max_bias;
};

struct NoMask {};

/// Scores of a row: scale * x + slope * mask. They are made anew where they are needed, which takes
/// less than to keep them.
template <class M>
struct Scores {
  const float* x;
  const std::byte* mask;
  float scale, slope;
  HWY_INLINE Vf operator()(std::size_t i, std::size_t left) const {
    const F32 d;
    const Vf v = hn::Mul(load_up_to(d, x + i, left), hn::Set(d, scale));
    if constexpr (std::is_same_v<M, NoMask>) {
      return v;
    } else {
      const Vf m = left < kLanes ? M::tail(mask, i, left) : M::piece(mask, i).part(0);
      return hn::MulAdd(m, hn::Set(d, slope), v);
    }
  }
};

/// Of a row.
template <class M>
HWY_INLINE float largest_of(const Scores<M> scores, std::size_t cols) {
  return fold<FoldMax>(
      cols, [&](std::size_t i, std::size_t left) REPRISE_INLINED { return scores(i, left); });
}

/// `max`: the largest score. `sink`: one more score, which has no result. `next`: the next row,
/// if kNext: memory brings it while this one is computed on. Returns its largest score.
template <bool kLogarithm, bool kNext, class M>
HWY_INLINE float normalise_row(const Scores<M> scores, std::size_t cols, float max,
                               const float* sink, const Scores<M> next, float* y) {
  constexpr std::size_t kAhead = 512;  // 2 KB: without it 1.05 to 1.2 times as long, 4 KB the same
  const F32 d;
  max = sink != nullptr && !(max > *sink) ? *sink : max;
  const Vf largest = hn::Set(d, max);
  Vf next_largest = hn::Set(d, FoldMax::kFirst);
  const auto below = [&](std::size_t i, std::size_t left)
                         REPRISE_INLINED { return hn::Sub(scores(i, left), largest); };
  const auto exponential = [&](std::size_t i, std::size_t left) REPRISE_INLINED {
    if constexpr (kNext) {
      __builtin_prefetch(next.x + kAhead + i);
      __builtin_prefetch(y + cols + i, 1);
      const Vf score = next(i, left);
      next_largest =
          hn::IfThenElse(hn::FirstN(d, left), FoldMax::add(next_largest, score), next_largest);
    }
    return exp_up_to_89(below(i, left));
  };
  const float others = sink == nullptr ? 0 : std::exp(*sink - max);
  if constexpr (kLogarithm) {
    const float sum = fold<FoldSum>(cols, exponential);
    const Vf logarithm = hn::Set(d, std::log(sum + others));
    write_row(y, cols, [&](std::size_t i, std::size_t left) REPRISE_INLINED {
      return hn::Sub(below(i, left), logarithm);
    });
  } else {
    const float sum = fold<FoldSum>(cols, [&](std::size_t i, std::size_t left) REPRISE_INLINED {
      const Vf e = exponential(i, left);
      store_up_to(d, e, y + i, left);
      return e;
    });
    const Vf share = hn::Set(d, 1.0F / (sum + others));
    write_row(y, cols, [&](std::size_t i, std::size_t left) REPRISE_INLINED {
      return hn::Mul(load_up_to(d, y + i, left), share);
    });
  }
  return FoldMax::lanes(next_largest);
}

template <class M, bool kLogarithm>
void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<Softmax>();
  const auto cols = static_cast<std::size_t>(a.x.dims[3]);
  const float scale = work.value(a.scale);
  const float max_bias = work.value(a.max_bias);
  const std::int64_t heads = a.x.dims[1];
  const auto scores_of = [&](std::int64_t row) {
    Scores<M> scores{a.x.row(row, a.x.dims), nullptr, scale, 1};
    if constexpr (!std::is_same_v<M, NoMask>) {
      const std::int64_t head = row / a.x.dims[2] % heads;
      scores.mask = a.mask.row(row / a.x.dims[2] / heads, head, row % a.x.dims[2]);
      scores.slope = max_bias > 0 ? alibi_slope(max_bias, head, heads) : 1;
    }
    return scores;
  };
  const auto sink_of = [&](std::int64_t row) {
    return a.sinks == nullptr ? nullptr : a.sinks + row / a.x.dims[2] % heads;
  };
  Scores<M> scores = scores_of(first);
  float max = largest_of(scores, cols);
  std::int64_t row = first;
  for (; row + 1 < end; ++row) {
    const Scores<M> next = scores_of(row + 1);
    max = normalise_row<kLogarithm, true>(scores, cols, max, sink_of(row), next,
                                          a.y + row * a.x.dims[3]);
    scores = next;
  }
  normalise_row<kLogarithm, false>(scores, cols, max, sink_of(row), scores,
                                   a.y + row * a.x.dims[3]);
}

template <bool kLogarithm>
bool plan_rows(const KernelCall& call, KernelPlan& plan) {
  const HostTensor& mask = call.tensors[1];
  Softmax softmax{.x = Rows(call.tensors[0]),
                  .y = reinterpret_cast<float*>(call.tensors[3].data),
                  .mask = {},
                  .sinks = reinterpret_cast<const float*>(call.tensors[2].data),
                  .scale = attribute<Param<float>>(call, "scale"),
                  .max_bias = attribute<Param<float>>(call, "max_bias")};
  plan.main = {.run = run<NoMask, kLogarithm>,
               .items = call.tensors[0].shape().rows(),
               .item_ns = 20 + static_cast<double>(softmax.x.dims[3]) * 0.6};
  if (mask) {
    softmax.mask = {mask.data, mask.shape().padded(), padded_strides(mask)};
    for (std::int64_t& stride : softmax.mask.strides) {
      stride *= info_of(mask.dtype()).block_bytes;
    }
    plan.main.run =
        mask.dtype() == DType::f32 ? run<F32Weights, kLogarithm> : run<F16Weights, kLogarithm>;
  }
  plan.set_arguments(softmax);
  return true;
}

}  // namespace

bool plan_softmax(const KernelCall& call, KernelPlan& plan) { return plan_rows<false>(call, plan); }
bool plan_log_softmax(const KernelCall& call, KernelPlan& plan) {
  return plan_rows<true>(call, plan);
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(log_softmax)
REPRISE_EXPORT_KERNEL(softmax)
#endif
