// A query of attention: the keys that it sees, and the weights that its scores become.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "backends/cpu/kernels/activations-inl.h"
#include "backends/cpu/kernels/alibi.h"
#include "backends/cpu/kernels/attention_mask-inl.h"

#if defined(REPRISE_ATTENTION_QUERY_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_ATTENTION_QUERY_INL_H
#undef REPRISE_ATTENTION_QUERY_INL_H
#else
#define REPRISE_ATTENTION_QUERY_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

struct Attention {
  const float* q;
  const std::byte* k;
  const std::byte* v;
  float* y;
  std::int64_t rows, heads, share, dim, value_dim, capacity;
  std::int64_t q_row, q_head;                 // elements
  std::int64_t k_row, k_head, v_row, v_head;  // bytes
  std::int64_t score_stride;
  Param<std::int32_t> kv_len;  // or past
  Param<float> scale;
  Param<float> softcap, max_bias;
  Param<std::int32_t> window;
  const float* sinks;  // null: none
  AttentionMask mask;
  bool causal, has_past;
  // Of a run: what the state says now.
  float factor;              // of scores: what a scale of 0 stands for
  float cap, bias;           // softcap and max_bias as they count; 0: none
  std::int64_t used;         // keys
  std::int64_t window_rows;  // 0: all

  /// Of a head of keys.
  std::int64_t queries_of_head() const { return rows * share; }
  /// With the values of the state.
  Attention now(const Work& work) const {
    Attention a = *this;
    if (const float value = work.value(scale); value != 0) {
      a.factor = value;
    }
    const auto normal = [&](const Param<float>& param) {
      const float value = work.value(param);
      return value > 0 && std::isnormal(value) ? value : 0;
    };
    a.cap = normal(softcap);
    a.bias = normal(max_bias);
    a.used = std::clamp<std::int64_t>(work.value(kv_len) + (has_past ? rows : 0), 0, capacity);
    a.window_rows = std::max(work.value(window), 0);
    return a;
  }
};

struct Query {
  const float* q;
  float* y;
  float* scores;
  float sink, slope;         // slope: of ALiBi; 0: none
  std::int64_t place;        // among the keys
  std::int64_t first, seen;  // the first key that is seen, the one after the last
  std::int64_t row;          // of the mask
  float total;               // of the weights
  bool all_count;            // no key that is seen has a score of -infinity

  Query() = default;
  Query(const Attention& a, std::int64_t head, std::int64_t of_row, float* own)
      : q(a.q + of_row * a.q_row + head * a.q_head),
        y(a.y + (of_row * a.heads + head) * a.value_dim),
        scores(own),
        sink(a.sinks == nullptr ? -std::numeric_limits<float>::infinity() : a.sinks[head]),
        slope(a.bias == 0 ? 0 : alibi_slope(a.bias, head, a.heads)),
        place(a.used - a.rows + of_row),
        seen(a.causal ? std::clamp<std::int64_t>(place + 1, 0, a.used) : a.used),
        row(of_row),
        total(0),
        all_count(true) {
    first = std::clamp<std::int64_t>(a.window_rows > 0 ? place - a.window_rows + 1 : 0, 0, seen);
    if (a.mask) {
      a.mask.trim(row, first, seen);
    }
  }
};

struct KeyRange {
  std::int64_t first, end;
};
/// From the first key that one of the queries sees to the last one; empty if none sees any.
inline KeyRange seen_by_any(std::span<const Query> queries) {
  KeyRange range = {std::numeric_limits<std::int64_t>::max(), 0};
  for (const Query& query : queries) {
    if (query.first < query.seen) {
      range = {std::min(range.first, query.first), std::max(range.end, query.seen)};
    }
  }
  return range.end == 0 ? KeyRange{0, 0} : range;
}

/// cap * tanh(score / cap); NaN stays NaN.
HWY_INLINE void cap_scores(float cap, std::int64_t count, float* scores) {
  const F32 d;
  const Vf limit = hn::Set(d, cap);
  for (std::int64_t j = 0; j < count; j += std::int64_t{kLanes}) {
    const Vf share = hn::Div(hn::LoadU(d, scores + j), limit);
    hn::StoreU(hn::Mul(limit, Tanh::of(share)), d, scores + j);
  }
}

/// exp(score - largest score) in place of the scores of keys [first, end). Returns their sum, with
/// that of the sink; 0 if no key counts. The rest of the first and of the last vector are
/// overwritten.
HWY_INLINE float soften(float* scores, std::int64_t first, std::int64_t end, float sink,
                        bool& all_count) {
  const F32 d;
  const auto whole = static_cast<std::int64_t>(kLanes);
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  const Vf lowest = hn::Set(d, kLowest);
  const std::int64_t begin = first / whole * whole;
  const std::int64_t padded = (end + whole - 1) / whole * whole;
  std::fill(scores + begin, scores + first, kLowest);
  std::fill(scores + end, scores + padded, kLowest);
  Vf best = hn::Set(d, sink);
  Vf hidden = hn::Zero(d);
  for (std::int64_t j = begin; j < padded; j += whole) {
    const Vf score = hn::LoadU(d, scores + j);
    best = hn::Max(best, score);
    hidden = hn::Add(hidden, hn::IfThenElseZero(hn::Eq(score, lowest), hn::Set(d, 1)));
  }
  all_count =
      hn::GetLane(hn::SumOfLanes(d, hidden)) == static_cast<float>(padded - begin - (end - first));
  best = hn::MaxOfLanes(d, best);
  // Where no key counts, all weights are 0.
  best = hn::IfThenZeroElse(hn::Eq(best, lowest), best);
  Vf sum = hn::Zero(d);
  for (std::int64_t j = begin; j < padded; j += whole) {
    const Vf weight = exp_up_to_89(hn::Sub(hn::LoadU(d, scores + j), best));
    hn::StoreU(weight, d, scores + j);
    sum = hn::Add(sum, weight);
  }
  const float keys = hn::GetLane(hn::SumOfLanes(d, sum));
  const float largest = hn::GetLane(best);
  return sink == kLowest || keys == 0 ? keys
                                      : keys + (sink == largest ? 1 : std::exp(sink - largest));
}

/// What scores of the keys that it sees become, before and after a softmax of all of them.
HWY_INLINE void weigh(const Attention& a, Query& query) {
  if (a.cap > 0) {
    const auto whole = static_cast<std::int64_t>(std::max(kLanes, kTileRows));
    const std::int64_t begin = query.first / whole * whole;
    cap_scores(a.cap, query.seen - begin, query.scores + begin);
  }
  if (a.mask) {
    a.mask.add(query.row, query.slope > 0 ? query.slope : 1, query.first, query.seen, query.scores);
  } else if (query.slope > 0) {
    for (std::int64_t j = query.first; j < query.seen; ++j) {
      query.scores[j] -= query.slope * static_cast<float>(std::abs(query.place - j));
    }
  }
  query.total = soften(query.scores, query.first, query.seen, query.sink, query.all_count);
}

/// How far ahead keys and values are prefetched: those of a head lie far apart.
constexpr std::int64_t kKeysAhead = 16;

/// sums += weights * values for keys [first, end), of kQueries queries; kWide vectors wide. Of one
/// query, keys without a weight are left out if `some_hidden`: their values may be NaN.
template <class W, std::size_t kQueries, std::size_t kWide>
HWY_INLINE void add_values(const Attention& a, const std::byte* values, const float* const* scores,
                           std::size_t column, std::size_t left, std::int64_t first,
                           std::int64_t end, bool some_hidden, Vf (*sums)[kWide]) {
  const F32 d;
  Vf own[kQueries][kWide];  // in registers, where `sums` may be memory
  const auto for_each = [](auto&& f) REPRISE_INLINED {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kQueries; ++i) {
#pragma GCC unroll 4
      for (std::size_t w = 0; w < kWide; ++w) {
        f(i, w);
      }
    }
  };
  for_each([&](std::size_t i, std::size_t w) REPRISE_INLINED { own[i][w] = sums[i][w]; });
  for (std::int64_t j = first; j < end; ++j) {
    if (kQueries == 1 && some_hidden && scores[0][j] == 0) {
      continue;
    }
    const std::byte* row = values + j * a.v_row;
    Vf value[kWide];
#pragma GCC unroll 4
    for (std::size_t w = 0; w < kWide; ++w) {
      __builtin_prefetch(row + kKeysAhead * a.v_row + W::bytes(column + w * kLanes), 0, 2);
      value[w] = value_vector<W>(row, column + w * kLanes, kWide == 1 ? left : kLanes);
    }
    for_each([&](std::size_t i, std::size_t w) REPRISE_INLINED {
      own[i][w] = hn::MulAdd(hn::Set(d, scores[i][j]), value[w], own[i][w]);
    });
  }
  for_each([&](std::size_t i, std::size_t w) REPRISE_INLINED { sums[i][w] = own[i][w]; });
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
