// attention: tiles of queries that share a head of keys. Scores of a tile lie in scratch memory
// between the products with keys and the ones with values; no key is read that none of them sees.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/attention.cpp"
#include <algorithm>
#include <cmath>
#include <functional>
#include <hwy/foreach_target.h>
#include <limits>

#include "backends/cpu/kernels/alibi.h"
#include "backends/cpu/kernels/attention_mask-inl.h"
#include "backends/cpu/kernels/dot_tile-inl.h"
#include "backends/cpu/kernels/exp-inl.h"
#include "backends/cpu/kernels/operands.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

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
  float factor;     // of scores: what a scale of 0 stands for
  float cap, bias;  // softcap and max_bias as they count; 0: none
  bool causal, has_past;
};

/// How far ahead keys and values are prefetched: those of a head lie far apart.
constexpr std::int64_t kKeysAhead = 16;

/// Up to kTileVectors queries of one head of keys; the last one is repeated in what is left.
struct Queries {
  std::size_t count;
  const float* q[kTileVectors];
  float* y[kTileVectors];
  float* scores[kTileVectors];
  float sink[kTileVectors];
  float slope[kTileVectors];         // of ALiBi; 0: none
  std::int64_t place[kTileVectors];  // among the keys
  std::int64_t first[kTileVectors];  // the first key that is seen
  std::int64_t seen[kTileVectors];   // the one after the last
  std::int64_t row[kTileVectors];    // of the mask
  float total[kTileVectors];
  bool all_count[kTileVectors];  // no key that is seen has a score of -infinity
};

/// What the distance of a key is multiplied by; 0: none. See AttentionAttributes::max_bias.
float slope_of(const Attention& a, std::int64_t head) {
  return a.bias == 0 ? 0 : alibi_slope(a.bias, head, a.heads);
}

/// Query `index` among those of a head of keys: rows of its first head, then of its second...
void add_query(const Attention& a, std::int64_t kv_head, std::int64_t index, std::int64_t used,
               std::int64_t window, float* scores, Queries& out) {
  const std::int64_t row = index % a.rows;
  const std::int64_t head = kv_head * a.share + index / a.rows;
  const std::size_t i = out.count++;
  out.q[i] = a.q + row * a.q_row + head * a.q_head;
  out.y[i] = a.y + (row * a.heads + head) * a.value_dim;
  out.scores[i] = scores + static_cast<std::int64_t>(i) * a.score_stride;
  out.sink[i] = a.sinks == nullptr ? -std::numeric_limits<float>::infinity() : a.sinks[head];
  const std::int64_t place = used - a.rows + row;
  out.slope[i] = slope_of(a, head);
  out.place[i] = place;
  out.seen[i] = a.causal ? std::clamp<std::int64_t>(place + 1, 0, used) : used;
  out.first[i] = std::clamp<std::int64_t>(window > 0 ? place - window + 1 : 0, 0, out.seen[i]);
  out.row[i] = row;
  if (a.mask) {
    a.mask.trim(row, out.first[i], out.seen[i]);
  }
}

/// cap * tanh(score / cap); NaN stays NaN.
HWY_INLINE void cap_scores(float cap, std::int64_t count, float* scores) {
  const F32 d;
  const Vf limit = hn::Set(d, cap);
  for (std::int64_t j = 0; j < count; j += std::int64_t{kLanes}) {
    const Vf x = hn::Div(hn::LoadU(d, scores + j), limit);
    const Vf y = hn::IfThenElse(hn::IsNaN(x), x, hn::Tanh(d, x));
    hn::StoreU(hn::Mul(limit, y), d, scores + j);
  }
}

template <class W, std::size_t kQueries>
HWY_INLINE void score(const Attention& a, const std::byte* keys, Queries& tile) {
  const std::int64_t max = *std::max_element(tile.seen, tile.seen + kQueries);
  const std::int64_t min = *std::min_element(tile.first, tile.first + kQueries);
  const auto scale = hn::Set(Four(), a.factor);
  const std::int64_t begin = min / std::int64_t{kTileRows} * std::int64_t{kTileRows};
  for (std::int64_t j = begin; j < max; j += std::int64_t{kTileRows}) {
    TileWeights rows{.row = {}, .next = kKeysAhead * a.k_row};
    for (std::size_t i = 0; i < kTileRows; ++i) {
      rows.row[i] = keys + std::clamp(j + static_cast<std::int64_t>(i), min, max - 1) * a.k_row;
    }
    hn::Vec<Four> sums[kQueries];
    dot_tile<W, kQueries>(rows, tile.q, static_cast<std::size_t>(a.dim), sums);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kQueries; ++i) {
      hn::StoreU(hn::Mul(sums[i], scale), Four(), tile.scores[i] + j);
    }
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
    const Vf weight = exp_of(hn::Sub(hn::LoadU(d, scores + j), best));
    hn::StoreU(weight, d, scores + j);
    sum = hn::Add(sum, weight);
  }
  const float keys = hn::GetLane(hn::SumOfLanes(d, sum));
  const float largest = hn::GetLane(best);
  return sink == kLowest || keys == 0 ? keys
                                      : keys + (sink == largest ? 1 : std::exp(sink - largest));
}

/// sums += weights * values for keys [first, end), of kQueries queries; kWide vectors wide. Of one
/// query, keys without a weight are left out if `some_hidden`: their values may be NaN.
template <class W, std::size_t kQueries, std::size_t kWide>
HWY_INLINE void add_values(const Attention& a, const std::byte* values, const float* const* scores,
                           std::size_t column, std::size_t left, std::int64_t first,
                           std::int64_t end, bool some_hidden, Vf (*sums)[kWide]) {
  const F32 d;
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
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kQueries; ++i) {
      const Vf weight = hn::Set(d, scores[i][j]);
#pragma GCC unroll 4
      for (std::size_t w = 0; w < kWide; ++w) {
        sums[i][w] = hn::MulAdd(weight, value[w], sums[i][w]);
      }
    }
  }
}

/// kWide vectors of every query's result, from `column` on.
template <class W, std::size_t kQueries, std::size_t kWide>
HWY_INLINE void combine_columns(const Attention& a, const std::byte* values, const Queries& tile,
                                std::size_t column) {
  const F32 d;
  const std::size_t left = static_cast<std::size_t>(a.value_dim) - column;
  Vf sums[kQueries][kWide];
#pragma GCC unroll 4
  for (std::size_t i = 0; i < kQueries; ++i) {
#pragma GCC unroll 4
    for (std::size_t w = 0; w < kWide; ++w) {
      sums[i][w] = hn::Zero(d);
    }
  }
  // Keys that count for all of them, and those before and behind that do for some.
  const bool all_count = std::all_of(tile.all_count, tile.all_count + tile.count, std::identity());
  const std::int64_t seen_by_all = *std::min_element(tile.seen, tile.seen + kQueries);
  const std::int64_t first = all_count ? *std::max_element(tile.first, tile.first + kQueries)
                                       : *std::max_element(tile.seen, tile.seen + kQueries);
  const std::int64_t end = std::max(first, seen_by_all);
  if (all_count && seen_by_all > first) {
    add_values<W, kQueries, kWide>(a, values, tile.scores, column, left, first, end, false, sums);
  }
  for (std::size_t i = 0; i < tile.count; ++i) {
    const bool hidden = !tile.all_count[i];
    add_values<W, 1, kWide>(a, values, tile.scores + i, column, left, tile.first[i],
                            std::min(first, tile.seen[i]), hidden, sums + i);
    add_values<W, 1, kWide>(a, values, tile.scores + i, column, left, end, tile.seen[i], hidden,
                            sums + i);
    const Vf scale = hn::Set(d, tile.total[i] == 0 ? 0 : 1 / tile.total[i]);
#pragma GCC unroll 4
    for (std::size_t w = 0; w < kWide; ++w) {
      store_up_to(d, hn::Mul(sums[i][w], scale), tile.y[i] + column + w * kLanes,
                  left - w * kLanes);
    }
  }
}

template <class W, std::size_t kQueries>
HWY_INLINE void combine(const Attention& a, const std::byte* values, const Queries& tile) {
  constexpr std::size_t kWide = 4;
  const auto dim = static_cast<std::size_t>(a.value_dim);
  std::size_t column = 0;
  for (; column + kWide * kLanes <= dim; column += kWide * kLanes) {
    combine_columns<W, kQueries, kWide>(a, values, tile, column);
  }
  for (; column < dim; column += kLanes) {
    combine_columns<W, kQueries, 1>(a, values, tile, column);
  }
}

/// `tile` has at most kQueries.
template <class W, std::size_t kQueries>
HWY_NOINLINE void attend(const Attention& a, std::int64_t kv_head, Queries& tile) {
  score<W, kQueries>(a, a.k + kv_head * a.k_head, tile);
  for (std::size_t i = 0; i < tile.count; ++i) {
    if (a.cap > 0) {
      const auto whole = static_cast<std::int64_t>(std::max(kLanes, kTileRows));
      const std::int64_t begin = tile.first[i] / whole * whole;
      cap_scores(a.cap, tile.seen[i] - begin, tile.scores[i] + begin);
    }
    if (a.mask) {
      a.mask.add(tile.row[i], tile.slope[i] > 0 ? tile.slope[i] : 1, tile.first[i], tile.seen[i],
                 tile.scores[i]);
    } else if (tile.slope[i] > 0) {
      for (std::int64_t j = tile.first[i]; j < tile.seen[i]; ++j) {
        tile.scores[i][j] -= tile.slope[i] * static_cast<float>(std::abs(tile.place[i] - j));
      }
    }
    tile.total[i] =
        soften(tile.scores[i], tile.first[i], tile.seen[i], tile.sink[i], tile.all_count[i]);
  }
  combine<W, kQueries>(a, a.v + kv_head * a.v_head, tile);
}

std::int64_t tiles_per_head(const Attention& a) {
  return (a.rows * a.share + std::int64_t{kTileVectors} - 1) / std::int64_t{kTileVectors};
}

/// Items are tiles of the first head of keys, then of the second...
template <class W>
void run(const Work& work, std::int64_t first, std::int64_t end) {
  auto a = work.as<Attention>();
  if (const float scale = work.value(a.scale); scale != 0) {
    a.factor = scale;
  }
  const float cap = work.value(a.softcap);
  a.cap = cap > 0 && std::isnormal(cap) ? cap : 0;
  const float bias = work.value(a.max_bias);
  a.bias = bias > 0 && std::isnormal(bias) ? bias : 0;
  const std::int64_t past_rows = a.has_past ? a.rows : 0;
  const std::int64_t used =
      std::clamp<std::int64_t>(work.value(a.kv_len) + past_rows, 0, a.capacity);
  const std::int64_t window = work.value(a.window);
  auto* scores = reinterpret_cast<float*>(work.own);
  const std::int64_t tiles = tiles_per_head(a);
  for (std::int64_t item = first; item < end; ++item) {
    const std::int64_t kv_head = item / tiles;
    Queries tile{};
    for (std::int64_t i = 0; i < std::int64_t{kTileVectors}; ++i) {
      const std::int64_t index = item % tiles * std::int64_t{kTileVectors} + i;
      add_query(a, kv_head, std::min(index, a.rows * a.share - 1), used, window, scores, tile);
    }
    tile.count = static_cast<std::size_t>(std::min<std::int64_t>(
        kTileVectors, a.rows * a.share - item % tiles * std::int64_t{kTileVectors}));
    if (tile.count == 1) {
      attend<W, 1>(a, kv_head, tile);
    } else if (tile.count == 2) {
      attend<W, 2>(a, kv_head, tile);
    } else {
      attend<W, kTileVectors>(a, kv_head, tile);
    }
  }
}

}  // namespace

bool plan_attention(const KernelCall& call, KernelPlan& plan) {
  const HostTensor& q = call.tensors[0];
  const HostTensor& k = call.tensors[1];
  const HostTensor& v = call.tensors[2];
  const auto bytes = [&](std::int64_t elements) {
    return static_cast<std::int64_t>(bytes_of(k.dtype(), static_cast<std::uint64_t>(elements)));
  };
  const std::int64_t dim = q.shape().back();
  const std::int64_t capacity = k.shape().dim(0);
  const auto whole = static_cast<std::int64_t>(std::max(kLanes, kTileRows));
  const bool has_past = attribute<bool>(call, "has_past");
  const Attention arguments{
      .q = reinterpret_cast<const float*>(q.data),
      .k = k.data,
      .v = v.data,
      .y = reinterpret_cast<float*>(call.tensors[5].data),
      .rows = q.shape().dim(0),
      .heads = q.shape().dim(1),
      .share = q.shape().dim(1) / k.shape().dim(1),
      .dim = dim,
      .value_dim = v.shape().back(),
      .capacity = capacity,
      .q_row = q.spec->strides[0],
      .q_head = q.spec->strides[1],
      .k_row = bytes(k.spec->strides[0]),
      .k_head = bytes(k.spec->strides[1]),
      .v_row = bytes(v.spec->strides[0]),
      .v_head = bytes(v.spec->strides[1]),
      .score_stride = (capacity + whole - 1) / whole * whole,
      .kv_len = attribute<Param<std::int32_t>>(call, has_past ? "past" : "kv_len"),
      .scale = attribute<Param<float>>(call, "scale"),
      .softcap = attribute<Param<float>>(call, "softcap"),
      .max_bias = attribute<Param<float>>(call, "max_bias"),
      .window = attribute<Param<std::int32_t>>(call, "window"),
      .sinks = reinterpret_cast<const float*>(call.tensors[4].data),
      .mask = AttentionMask(call.tensors[3]),
      .factor = static_cast<float>(1 / std::sqrt(static_cast<double>(dim))),
      .cap = 0,
      .bias = 0,
      .causal = attribute<bool>(call, "causal"),
      .has_past = has_past};
  plan.main.run = k.dtype() == DType::f32   ? run<F32Weights>
                  : k.dtype() == DType::f16 ? run<F16Weights>
                                            : run<Q8Weights>;
  plan.main.items = k.shape().dim(1) * tiles_per_head(arguments);
  plan.main.item_ns = static_cast<double>(capacity * (dim + arguments.value_dim)) *
                      static_cast<double>(kTileVectors) / 20;
  plan.own_bytes = kTileVectors * static_cast<std::uint64_t>(arguments.score_stride) * 4;
  plan.set_arguments(arguments);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(attention)
#endif
