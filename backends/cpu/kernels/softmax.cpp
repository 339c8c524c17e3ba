// softmax, log_softmax: the largest score of a row, then exponentials, then their shares. A row
// stays in the cache meanwhile, so that memory is read and written once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/softmax.cpp"
#include <cmath>
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/alibi.h"
#include "backends/cpu/kernels/exp-inl.h"
#include "backends/cpu/kernels/operands.h"
#include "backends/cpu/kernels/row_fold-inl.h"
#include "backends/cpu/kernels/streamed_row-inl.h"
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

enum class Results { shares, streamed_shares, logarithms };

struct Sums {
  float sum, next_largest;
};
/// The sum of the exponentials of a row, each of which goes to with(first element, left, vector).
/// `next`: the next row, if kNext: memory brings it while this one is computed on.
template <bool kNext, class M, class F>
HWY_INLINE Sums exponentials(const Scores<M> scores, std::size_t cols, float max,
                             const Scores<M> next, const F& with) {
  constexpr std::size_t kAhead = 512;  // 2 KB: without it 1.05 to 1.2 times as long, 4 KB the same
  const F32 d;
  const Vf largest = hn::Set(d, max);
  Vf next_largest = hn::Set(d, FoldMax::kFirst);
  const float sum = fold<FoldSum>(cols, [&](std::size_t i, std::size_t left) REPRISE_INLINED {
    if constexpr (kNext) {
      __builtin_prefetch(next.x + kAhead + i);
      const Vf score = next(i, left);
      next_largest =
          hn::IfThenElse(hn::FirstN(d, left), FoldMax::add(next_largest, score), next_largest);
    }
    const Vf e = exp_up_to_89(hn::Sub(scores(i, left), largest));
    with(i, left, e);
    return e;
  });
  return {sum, FoldMax::lanes(next_largest)};
}

/// `max`: the largest score. `sink`: one more score, which has no result. Returns the largest score
/// of the next row, if kNext.
template <Results kResults, bool kNext, class M>
HWY_INLINE float normalise_row(const Scores<M> scores, std::size_t cols, float max,
                               const float* sink, const Scores<M> next, float* y,
                               StreamedRow& before) {
  const F32 d;
  max = sink != nullptr && !(max > *sink) ? *sink : max;
  const float others = sink == nullptr ? 0 : std::exp(*sink - max);
  float* const kept = kResults == Results::streamed_shares ? before.kept_for(y) : y;
  const auto keep = [&](std::size_t i, std::size_t left, Vf e) REPRISE_INLINED {
    if constexpr (kResults == Results::streamed_shares) {
      before.write_vector();
    } else if constexpr (kNext) {
      __builtin_prefetch(y + cols + i, 1);
    }
    if constexpr (kResults != Results::logarithms) {
      store_up_to(d, e, kept + i, left);
    }
  };
  const Sums sums = exponentials<kNext>(scores, cols, max, next, keep);
  const float sum = sums.sum + others;
  if constexpr (kResults == Results::logarithms) {
    const Vf largest = hn::Set(d, max), logarithm = hn::Set(d, std::log(sum));
    write_row(y, cols, [&](std::size_t i, std::size_t left) REPRISE_INLINED {
      return hn::Sub(hn::Sub(scores(i, left), largest), logarithm);
    });
  } else if constexpr (kResults == Results::shares) {
    const Vf share = hn::Set(d, 1.0F / sum);
    write_row(y, cols, [&](std::size_t i, std::size_t left) REPRISE_INLINED {
      return hn::Mul(load_up_to(d, y + i, left), share);
    });
  } else {
    before.end();
    before.begin(kept, y, cols, 1.0F / sum);
  }
  return sums.next_largest;
}

template <class M, Results kResults>
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
  StreamedRow streamed;
  const auto normalise = [&](std::int64_t row, const Scores<M>& scores, float max,
                             const Scores<M>& next, auto has_next) {
    const float* const sink = a.sinks == nullptr ? nullptr : a.sinks + row / a.x.dims[2] % heads;
    return normalise_row<kResults, has_next>(scores, cols, max, sink, next, a.y + row * a.x.dims[3],
                                             streamed);
  };
  Scores<M> scores = scores_of(first);
  float max = largest_of(scores, cols);
  std::int64_t row = first;
  for (; row + 1 < end; ++row) {
    const Scores<M> next = scores_of(row + 1);
    max = normalise(row, scores, max, next, std::true_type());
    scores = next;
  }
  normalise(row, scores, max, scores, std::false_type());
  if constexpr (kResults == Results::streamed_shares) {
    streamed.end();
    StreamedRow::flush();
  }
}

/// Results stream from 32 MiB on: a reader behind them took longer where there were fewer.
constexpr std::int64_t kStreamed = std::int64_t{8} << 20U;  // elements

template <class M>
auto run_of(bool logarithms, const Shape& y) {
  if (logarithms) {
    return run<M, Results::logarithms>;
  }
  return y.elements() < kStreamed || y.back() > StreamedRow::kMostColumns
             ? run<M, Results::shares>
             : run<M, Results::streamed_shares>;
}

bool plan_rows(const KernelCall& call, bool logarithms, KernelPlan& plan) {
  const HostTensor& mask = call.tensors[1];
  Softmax softmax{.x = Rows(call.tensors[0]),
                  .y = reinterpret_cast<float*>(call.tensors[3].data),
                  .mask = {},
                  .sinks = reinterpret_cast<const float*>(call.tensors[2].data),
                  .scale = attribute<Param<float>>(call, "scale"),
                  .max_bias = attribute<Param<float>>(call, "max_bias")};
  const Shape& y = call.tensors[3].shape();
  plan.main = {.run = run_of<NoMask>(logarithms, y),
               .items = call.tensors[0].shape().rows(),
               .item_ns = 20 + static_cast<double>(softmax.x.dims[3]) * 0.6};
  if (mask) {
    softmax.mask = {mask.data, mask.shape().padded(), padded_strides(mask)};
    for (std::int64_t& stride : softmax.mask.strides) {
      stride *= info_of(mask.dtype()).block_bytes;
    }
    plan.main.run = mask.dtype() == DType::f32 ? run_of<F32Weights>(logarithms, y)
                                               : run_of<F16Weights>(logarithms, y);
  }
  plan.set_arguments(softmax);
  return true;
}

}  // namespace

bool plan_softmax(const KernelCall& call, KernelPlan& plan) { return plan_rows(call, false, plan); }
bool plan_log_softmax(const KernelCall& call, KernelPlan& plan) {
  return plan_rows(call, true, plan);
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(log_softmax)
REPRISE_EXPORT_KERNEL(softmax)
#endif
