// Attention of many queries: those of a block share panels of keys and of values, as the rows of a
// product do.
#include <array>

#include "backends/cpu/kernels/attention_query-inl.h"
#include "backends/cpu/kernels/panels-inl.h"

#if defined(REPRISE_ATTENTION_BLOCK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_ATTENTION_BLOCK_INL_H
#undef REPRISE_ATTENTION_BLOCK_INL_H
#else
#define REPRISE_ATTENTION_BLOCK_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

/// Queries of the largest block: packing a panel costs as much as a product with a few of them.
constexpr std::size_t kMaxBlock = 5 * kTileHeight;
/// Heads of keys with fewer queries are computed by tiles.
constexpr auto kMinBlock = static_cast<std::int64_t>(kTileHeight);

/// Queries of a block: as many as have their scores in the second-level cache, and about as many as
/// those of the others.
inline std::int64_t block_queries(const Attention& a) {
  constexpr std::int64_t kScores = std::int64_t{256} * 1024;
  const std::int64_t most =
      std::clamp(kScores / a.score_stride, kMinBlock, std::int64_t{kMaxBlock});
  const std::int64_t blocks = (a.queries_of_head() + most - 1) / most;
  return (a.queries_of_head() + blocks - 1) / blocks;
}
inline std::int64_t blocks_per_head(const Attention& a) {
  return (a.queries_of_head() + block_queries(a) - 1) / block_queries(a);
}

/// Memory of a thread, in floats.
struct BlockMemory {
  explicit BlockMemory(const Attention& a)
      : panel(std::max(static_cast<std::size_t>(a.dim), kPanelDepth) * kPanelColumns),
        scores(static_cast<std::size_t>(block_queries(a) * a.score_stride)),
        queries(static_cast<std::size_t>(block_queries(a) * a.dim)),
        results(static_cast<std::size_t>(block_queries(a) * a.value_dim)) {}
  std::size_t bytes() const { return (panel + scores + queries + results) * sizeof(float); }
  std::size_t panel, scores, queries, results;  // in this order, as panels are of whole vectors
};

/// Queries of one head of keys: all heads of a row, then of the next one, as they see nearly the
/// same keys.
class AttentionBlock {
 public:
  HWY_INLINE AttentionBlock(const Attention& a, std::int64_t kv_head, std::int64_t first,
                            float* own)
      : a_(a),
        kv_head_(kv_head),
        count_(static_cast<std::size_t>(std::min(block_queries(a), a.queries_of_head() - first))),
        panel_(own) {
    const BlockMemory memory(a);
    float* const scores = own + memory.panel;
    float* const scaled = scores + memory.scores;
    results_ = scaled + memory.queries;
    for (std::size_t i = 0; i < count_; ++i) {
      const auto at = static_cast<std::int64_t>(i);
      Query& query = queries_[i];
      query = Query(a, kv_head * a.share + (first + at) % a.share, (first + at) / a.share,
                    scores + at * a.score_stride);
      float* const q = scaled + at * a.dim;
      std::transform(query.q, query.q + a.dim, q, [&](float x) { return x * a.factor; });
      query.q = q;
    }
  }

  template <class W>
  void attend() {
    score<W>(a_.k + kv_head_ * a_.k_head);
    for (Query& query : queries()) {
      weigh(a_, query);
    }
    combine<W>(a_.v + kv_head_ * a_.v_head);
  }

 private:
  std::span<Query> queries() { return std::span(queries_).first(count_); }
  float* result(const Query& query) { return results_ + (&query - queries_.data()) * a_.value_dim; }
  /// Calls f(queries) with those of each tile.
  template <class F>
  void for_each_tile(F&& f) {
    for (std::size_t i = 0; i < count_; i += kTileHeight) {
      f(queries().subspan(i, std::min(kTileHeight, count_ - i)));
    }
  }

  template <class W>
  void score(const std::byte* keys) {
    const auto [first, end] = seen_by_any(queries());
    const auto dim = static_cast<std::size_t>(a_.dim);
    for (std::int64_t j = first; j < end; j += std::int64_t{kPanelColumns}) {
      const std::size_t columns = std::min(kPanelColumns, static_cast<std::size_t>(end - j));
      pack<W>(keys + j * a_.k_row, static_cast<std::size_t>(a_.k_row), columns, 0, dim, panel_);
      for_each_tile([&](std::span<Query> tile) {
        if (seen_by_any(tile).end > j) {
          tile_function(tile.size(), columns)(tile[0].q, dim, panel_, dim, tile[0].scores + j,
                                              static_cast<std::size_t>(a_.score_stride), columns,
                                              false);
        }
      });
    }
  }

  template <class W>
  void combine(const std::byte* values) {
    const auto value_dim = static_cast<std::size_t>(a_.value_dim);
    for_each_tile([&](std::span<Query> tile) {
      const KeyRange range = seen_by_any(tile);
      for (const Query& query : tile) {
        std::fill(query.scores + range.first, query.scores + std::max(query.first, range.first), 0);
        std::fill(query.scores + query.seen, query.scores + range.end, 0);
      }
    });
    std::fill_n(results_, count_ * value_dim, 0.0F);
    const auto [first, end] = seen_by_any(queries());
    for (std::int64_t j = first; j < end; j += std::int64_t{kPanelDepth}) {
      const KeyRange keys = {j, std::min(end, j + std::int64_t{kPanelDepth})};
      for (std::size_t column = 0; column < value_dim; column += kPanelColumns) {
        const bool finite = pack_values<W>(values, keys, column);
        for_each_tile([&](std::span<Query> tile) {
          const KeyRange seen = seen_by_any(tile);
          const KeyRange both = {std::max(keys.first, seen.first), std::min(keys.end, seen.end)};
          if (both.first >= both.end) {
            return;
          }
          if (finite) {
            const auto skipped = static_cast<std::size_t>(both.first - keys.first);
            const std::size_t columns = std::min(kPanelColumns, value_dim - column);
            tile_function(tile.size(), columns)(
                tile[0].scores + both.first, static_cast<std::size_t>(a_.score_stride),
                panel_ + skipped * kPanelColumns, static_cast<std::size_t>(both.end - both.first),
                result(tile[0]) + column, value_dim, columns, true);
          } else {
            for (const Query& query : tile) {
              add_row<W>(values, query, both, column);
            }
          }
        });
      }
    }
    for (const Query& query : queries()) {
      const float scale = query.total == 0 ? 0 : 1 / query.total;
      std::transform(result(query), result(query) + value_dim, query.y,
                     [=](float sum) { return sum * scale; });
    }
  }

  /// Columns of the values of some keys into the panel. Whether all of them are finite: what does
  /// not count for a row may be multiplied by its weight of 0 then.
  template <class W>
  bool pack_values(const std::byte* values, KeyRange keys, std::size_t column) {
    const auto value_dim = static_cast<std::size_t>(a_.value_dim);
    return column + kPanelColumns <= value_dim
               ? pack_columns(keys,
                              [&](std::int64_t j, std::size_t at) REPRISE_INLINED {
                                return value_vector<W>(values + j * a_.v_row, column + at, kLanes);
                              })
               : pack_columns(keys, [&](std::int64_t j, std::size_t at) REPRISE_INLINED {
                   return column + at < value_dim
                              ? value_vector<W>(values + j * a_.v_row, column + at,
                                                value_dim - column - at)
                              : hn::Zero(F32());
                 });
  }
  template <class Values>
  HWY_INLINE bool pack_columns(KeyRange keys, const Values& values) {
    const F32 d;
    Vf zeros = hn::Zero(d);
    float* to = panel_;
    for (std::int64_t j = keys.first; j < keys.end; ++j) {
      for (std::size_t at = 0; at < kPanelColumns; at += kLanes, to += kLanes) {
        const Vf value = values(j, at);
        zeros = hn::MulAdd(value, hn::Zero(d), zeros);
        hn::Store(value, d, to);
      }
    }
    return hn::AllTrue(d, hn::Eq(zeros, hn::Zero(d)));
  }

  /// Adds the values of the keys that count for a row; they may be NaN.
  template <class W>
  void add_row(const std::byte* values, const Query& query, KeyRange keys, std::size_t first) {
    const F32 d;
    const auto value_dim = static_cast<std::size_t>(a_.value_dim);
    for (std::size_t column = first; column < std::min(first + kPanelColumns, value_dim);
         column += kLanes) {
      const std::size_t left = value_dim - column;
      Vf sums[1][1] = {{load_up_to(d, result(query) + column, left)}};
      add_values<W, 1, 1>(a_, values, &query.scores, column, left,
                          std::max(query.first, keys.first), std::min(query.seen, keys.end),
                          !query.all_count, sums);
      store_up_to(d, sums[0][0], result(query) + column, left);
    }
  }

  const Attention& a_;
  std::int64_t kv_head_;
  std::size_t count_;
  float* panel_;
  float* results_;
  std::array<Query, kMaxBlock> queries_;
};

/// Items are blocks of the first head of keys, then of the second...
template <class W>
void run_blocks(const Work& work, std::int64_t first, std::int64_t end) {
  const Attention a = work.as<Attention>().now(work);
  const std::int64_t blocks = blocks_per_head(a);
  for (std::int64_t item = first; item < end; ++item) {
    AttentionBlock block(a, item / blocks, item % blocks * block_queries(a),
                         reinterpret_cast<float*>(work.own));
    block.attend<W>();
  }
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
