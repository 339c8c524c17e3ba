// attention: tiles of queries that share a head of keys, or blocks where there are many.
// Scores lie in scratch memory between the products with keys and the ones with values; no key is
// read that none of the queries sees.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/attention.cpp"
#include <algorithm>
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/attention_block-inl.h"
#include "backends/cpu/kernels/operands.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

/// Up to kTileVectors queries of one head of keys; the last one is repeated in what is left.
struct Queries {
  std::size_t count;
  std::array<Query, kTileVectors> of;
};

template <class W, std::size_t kQueries>
HWY_INLINE void score(const Attention& a, const std::byte* keys, const Queries& tile) {
  const auto [first, end] = seen_by_any(std::span(tile.of).first(kQueries));
  const float* q[kQueries];
  for (std::size_t i = 0; i < kQueries; ++i) {
    q[i] = tile.of[i].q;
  }
  const auto scale = hn::Set(Four(), a.factor);
  const std::int64_t begin = first / std::int64_t{kTileRows} * std::int64_t{kTileRows};
  for (std::int64_t j = begin; j < end; j += std::int64_t{kTileRows}) {
    TileWeights rows{.row = {}, .next = kKeysAhead * a.k_row};
    for (std::size_t i = 0; i < kTileRows; ++i) {
      rows.row[i] = keys + std::clamp(j + static_cast<std::int64_t>(i), first, end - 1) * a.k_row;
    }
    hn::Vec<Four> sums[kQueries];
    dot_tile<W, kQueries>(rows, q, static_cast<std::size_t>(a.dim), sums);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kQueries; ++i) {
      hn::StoreU(hn::Mul(sums[i], scale), Four(), tile.of[i].scores + j);
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
  const std::span<const Query> all(tile.of.data(), kQueries);
  const bool all_count = std::ranges::all_of(all, &Query::all_count);
  const std::int64_t seen_by_all = std::ranges::min(all, {}, &Query::seen).seen;
  const std::int64_t first = all_count ? std::ranges::max(all, {}, &Query::first).first
                                       : std::ranges::max(all, {}, &Query::seen).seen;
  const std::int64_t end = std::max(first, seen_by_all);
  if (all_count && seen_by_all > first) {
    const float* scores[kQueries];
    for (std::size_t i = 0; i < kQueries; ++i) {
      scores[i] = tile.of[i].scores;
    }
    add_values<W, kQueries, kWide>(a, values, scores, column, left, first, end, false, sums);
  }
  for (std::size_t i = 0; i < tile.count; ++i) {
    const Query& query = tile.of[i];
    const bool hidden = !query.all_count;
    add_values<W, 1, kWide>(a, values, &query.scores, column, left, query.first,
                            std::min(first, query.seen), hidden, sums + i);
    add_values<W, 1, kWide>(a, values, &query.scores, column, left, end, query.seen, hidden,
                            sums + i);
    const Vf scale = hn::Set(d, query.total == 0 ? 0 : 1 / query.total);
#pragma GCC unroll 4
    for (std::size_t w = 0; w < kWide; ++w) {
      store_up_to(d, hn::Mul(sums[i][w], scale), query.y + column + w * kLanes, left - w * kLanes);
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
  for (std::size_t i = 0; i < kQueries; ++i) {
    if (i < tile.count) {
      weigh(a, tile.of[i]);
    } else {
      tile.of[i] = tile.of[tile.count - 1];
    }
  }
  combine<W, kQueries>(a, a.v + kv_head * a.v_head, tile);
}

std::int64_t tiles_per_head(const Attention& a) {
  return (a.queries_of_head() + std::int64_t{kTileVectors} - 1) / std::int64_t{kTileVectors};
}

/// Items are tiles of the first head of keys, then of the second... A head's queries are the rows
/// of its first head, then of its second...
template <class W>
void run_tiles(const Work& work, std::int64_t first, std::int64_t end) {
  const Attention a = work.as<Attention>().now(work);
  auto* scores = reinterpret_cast<float*>(work.own);
  const std::int64_t tiles = tiles_per_head(a);
  for (std::int64_t item = first; item < end; ++item) {
    const std::int64_t kv_head = item / tiles;
    const std::int64_t begin = item % tiles * std::int64_t{kTileVectors};
    Queries tile{.count = static_cast<std::size_t>(
                     std::min(std::int64_t{kTileVectors}, a.queries_of_head() - begin)),
                 .of = {}};
    for (std::size_t i = 0; i < kTileVectors; ++i) {
      const std::int64_t index = begin + static_cast<std::int64_t>(std::min(i, tile.count - 1));
      tile.of[i] = Query(a, kv_head * a.share + index / a.rows, index % a.rows,
                         scores + static_cast<std::int64_t>(i) * a.score_stride);
    }
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
      // A vector more: rows that are a power of two apart would share a few sets of the cache.
      .score_stride = (capacity + whole - 1) / whole * whole + whole,
      .kv_len = attribute<Param<std::int32_t>>(call, has_past ? "past" : "kv_len"),
      .scale = attribute<Param<float>>(call, "scale"),
      .softcap = attribute<Param<float>>(call, "softcap"),
      .max_bias = attribute<Param<float>>(call, "max_bias"),
      .window = attribute<Param<std::int32_t>>(call, "window"),
      .sinks = reinterpret_cast<const float*>(call.tensors[4].data),
      .mask = AttentionMask(call.tensors[3]),
      .causal = attribute<bool>(call, "causal"),
      .has_past = has_past,
      .factor = static_cast<float>(1 / std::sqrt(static_cast<double>(dim))),
      .cap = 0,
      .bias = 0,
      .used = 0,
      .window_rows = 0};
  const bool blocks = arguments.queries_of_head() >= kMinBlock;
  const auto with = [&]<class W>(W /*weights*/) {
    plan.main.run = blocks ? run_blocks<W> : run_tiles<W>;
  };
  k.dtype() == DType::f32   ? with(F32Weights())
  : k.dtype() == DType::f16 ? with(F16Weights())
                            : with(Q8Weights());
  const double products = static_cast<double>(capacity * (dim + arguments.value_dim));
  if (blocks) {
    plan.main.items = k.shape().dim(1) * blocks_per_head(arguments);
    plan.main.item_ns = products * static_cast<double>(block_queries(arguments)) / 30;
    plan.own_bytes = BlockMemory(arguments).bytes();
  } else {
    plan.main.items = k.shape().dim(1) * tiles_per_head(arguments);
    plan.main.item_ns = products * static_cast<double>(kTileVectors) / 20;
    plan.own_bytes = kTileVectors * static_cast<std::uint64_t>(arguments.score_stride) * 4;
  }
  plan.set_arguments(arguments);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(attention)
#endif
