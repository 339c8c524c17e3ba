// The tokens of a row that sample() keeps: all from a rank on, which is found without sorting the
// row.
#include <array>
#include <cmath>
#include <numeric>

#include "backends/cpu/kernels/row_fold-inl.h"
#include "backends/cpu/kernels/sample_weights-inl.h"
#include "backends/cpu/kernels/selection-inl.h"

#if defined(REPRISE_NUCLEUS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_NUCLEUS_INL_H
#undef REPRISE_NUCLEUS_INL_H
#else
#define REPRISE_NUCLEUS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

/// The last token that is kept: larger ones are, and equal ones up to its column. By default every
/// number.
struct LastKept {
  float value = -std::numeric_limits<float>::infinity();
  std::int32_t column = std::numeric_limits<std::int32_t>::max();

  /// Lane i is the element of column `first` + i.
  HWY_INLINE hn::Mask<F32> keeps(Vf v, std::size_t first) const {
    const F32 d;
    const Vf last = hn::Set(d, value);
    const auto equal = static_cast<std::int64_t>(column) + 1 - static_cast<std::int64_t>(first);
    if (equal >= static_cast<std::int64_t>(kLanes)) {
      return hn::Ge(v, last);
    }
    const auto larger = hn::Gt(v, last);
    return equal <= 0 ? larger
                      : hn::Or(larger, hn::And(hn::Eq(v, last),
                                               hn::FirstN(d, static_cast<std::size_t>(equal))));
  }
};

inline LastKept last_kept(Rank rank) {
  return {value_of(rank), static_cast<std::int32_t>(column_of(rank))};
}

/// Of numbers, the largest first: the first ones whose weights, together with `sum`, reach
/// `wanted`.
inline LastKept reach(std::span<const Rank> ranks, const LogitWeights& weights, std::uint64_t sum,
                      std::uint64_t wanted) {
  std::size_t i = 0;
  for (; i + 1 < ranks.size(); ++i) {
    sum += weights.of(value_of(ranks[i]));
    if (sum >= wanted) {
      break;
    }
  }
  return last_kept(ranks[i]);
}

inline std::uint64_t wanted_of(std::uint64_t total, std::uint32_t top_p) {
  return std::max<std::uint64_t>(share_of(total, top_p), 1);
}

/// The k largest, and of these the ones that reach top_p.
inline LastKept keep_largest(std::span<const float> x, const LogitWeights& weights, std::size_t k,
                             std::uint32_t top_p, std::span<Rank> room) {
  Largest largest = largest_of(x, k, room.first(Largest::room_for(k, x.size())));
  if (top_p == SampleFilters::kWhole) {
    const Rank last = std::ranges::min(largest.chosen());
    return is_number(last) ? last_kept(last) : LastKept();
  }
  std::span<const Rank> ranks = largest.sorted();
  while (!is_number(ranks.back())) {
    ranks = ranks.first(ranks.size() - 1);
  }
  std::uint64_t total = 0;
  for (const Rank rank : ranks) {
    total += weights.of(value_of(rank));
  }
  return reach(ranks, weights, 0, wanted_of(total, top_p));
}

inline float below(float value) {
  return std::nextafter(value, -std::numeric_limits<float>::infinity());
}

/// Values above `bottom`, up to `top`.
struct Slice {
  float top, bottom;
  HWY_INLINE hn::Mask<F32> of(Vf v) const {
    const F32 d;
    return hn::And(hn::Gt(v, hn::Set(d, bottom)), hn::Le(v, hn::Set(d, top)));
  }
};

/// Stores the lanes of a mask and writes over what a whole vector takes: a branch for vectors that
/// have none of them would go either way.
template <class V>
HWY_INLINE std::size_t store_whole(V v, hn::Mask<F32> mask, hn::TFromV<V>* to) {
  const hn::Rebind<hn::TFromV<V>, F32> d;
  hn::StoreU(hn::Compress(v, hn::RebindMask(d, mask)), d, to);
  return hn::CountTrue(F32(), mask);
}

/// Where as many logits and their weights go as there are ranks.
struct Place {
  explicit Place(std::span<Rank> ranks)
      : x(reinterpret_cast<float*>(ranks.data())),
        w(reinterpret_cast<std::int32_t*>(x + ranks.size())) {}
  float* x;
  std::int32_t* w;
};

/// Logits and their weights, in any order.
struct Weighed {
  std::span<float> x;
  std::span<std::int32_t> w;

  HWY_INLINE Vf values(std::size_t i) const {
    return load_up_to(F32(), x.data() + i, x.size() - i);
  }
  HWY_INLINE VWeight weights(std::size_t i) const {
    return load_up_to(WeightBits(), w.data() + i, w.size() - i);
  }
  std::uint64_t total() const { return std::accumulate(w.begin(), w.end(), std::uint64_t{0}); }
  /// All are in it.
  Slice range() const {
    const auto largest = [&](auto&& f) REPRISE_INLINED { return fold<FoldMax>(x.size(), f); };
    return {.top = largest([&](std::size_t i, std::size_t) REPRISE_INLINED { return values(i); }),
            .bottom = below(-largest([&](std::size_t i, std::size_t)
                                         REPRISE_INLINED { return hn::Neg(values(i)); }))};
  }
};

inline Weighed weigh(std::span<float> x, const LogitWeights& weights, std::int32_t* to) {
  for (std::size_t i = 0; i < x.size(); i += kLanes) {
    const std::size_t left = x.size() - i;
    store_up_to(WeightBits(), weights.of(load_up_to(F32(), x.data() + i, left)), to + i, left);
  }
  return {x, {to, x.size()}};
}

/// Tokens that follow each other.
struct Block {
  static constexpr std::size_t kTokens = 1024;  // at most
  std::uint64_t weight;
  std::size_t end;  // behind those of a slice up to this block
};

/// Of the elements of a row.
struct Shares {
  std::uint64_t total = 0, down = 0;  // weights of all, and of those above the bottom of a slice
  std::span<float> within;            // those of the slice
};

/// `to`: room for the row. Blocks get the weights of those above the bottom.
inline Shares share(std::span<const float> x, const LogitWeights& weights, Slice slice, float* to,
                    std::span<Block> blocks) {
  const F32 d;
  Shares shares;
  std::size_t kept = 0;
  for (std::size_t first = 0; first < x.size(); first += Block::kTokens) {
    const std::size_t end = std::min(first + Block::kTokens, x.size());
    WeightSum all, down;
    const auto add = [&](Vf v) REPRISE_INLINED {
      const WeightSum::Parts w(weights.of(v));
      const auto above = hn::Gt(v, hn::Set(d, slice.bottom));
      all.add(w);
      down.add_where(above, w);
      return hn::And(above, hn::Le(v, hn::Set(d, slice.top)));
    };
    std::size_t i = first;
    for (; i + kLanes <= end; i += kLanes) {
      const Vf v = hn::LoadU(d, x.data() + i);
      kept += store_whole(v, add(v), to + kept);
    }
    if (i < end) {
      const Vf none = hn::Set(d, -std::numeric_limits<float>::infinity());
      const Vf v =
          hn::IfThenElse(hn::FirstN(d, end - i), load_up_to(d, x.data() + i, end - i), none);
      kept += hn::CompressBlendedStore(v, add(v), d, to + kept);
    }
    blocks[first / Block::kTokens] = {down.total(), kept};
    shares.total += all.total();
    shares.down += blocks[first / Block::kTokens].weight;
  }
  shares.within = {to, kept};
  return shares;
}

/// One of nine equal parts of `range`, the one in which `sum`, which gets the weights above it,
/// reaches `wanted`.
inline Slice reaching(const Weighed& of, Slice range, std::uint64_t& sum, std::uint64_t wanted) {
  constexpr std::size_t kLevels = 8;
  const F32 d;
  std::array<float, kLevels> levels;
  for (std::size_t level = 0; level < kLevels; ++level) {
    levels[level] =
        range.top - (range.top - range.bottom) * static_cast<float>(level + 1) / (kLevels + 1);
  }
  std::array<std::uint64_t, kLevels> masses{};
  for (std::size_t first = 0; first < of.x.size(); first += WeightSum::kMost) {
    WeightSum above[kLevels];
    for (std::size_t i = first; i < std::min(first + WeightSum::kMost, of.x.size()); i += kLanes) {
      const Vf v = of.values(i);
      const WeightSum::Parts w(of.weights(i));
#pragma GCC unroll 8
      for (std::size_t level = 0; level < kLevels; ++level) {
        above[level].add_where(hn::Gt(v, hn::Set(d, levels[level])), w);
      }
    }
    for (std::size_t level = 0; level < kLevels; ++level) {
      masses[level] += above[level].total();
    }
  }
  std::size_t level = 0;
  while (level < kLevels && sum + masses[level] < wanted) {
    ++level;
  }
  if (level > 0) {
    sum += masses[level - 1];
    range.top = levels[level - 1];
  }
  if (level < kLevels) {
    range.bottom = levels[level];
  }
  return range;
}

/// Numbers of a slice go to `to`, which may be where they are. Returns how many.
inline std::size_t store_within(Slice slice, std::span<const float> x, float* to) {
  const F32 d;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < x.size(); i += kLanes) {
    const Vf v = load_up_to(d, x.data() + i, x.size() - i);
    const auto mask = hn::And(slice.of(v), hn::FirstN(d, x.size() - i));
    kept += hn::CompressBlendedStore(v, mask, d, to + kept);
  }
  return kept;
}

/// Those of a slice go to `to`, which may be where they are.
inline Weighed keep(const Weighed& from, Slice slice, Place to) {
  const F32 d;
  const WeightBits words;
  std::size_t kept = 0, i = 0;
  for (; i + kLanes <= from.x.size(); i += kLanes) {
    const Vf v = hn::LoadU(d, from.x.data() + i);
    const auto mask = slice.of(v);
    store_whole(hn::LoadU(words, from.w.data() + i), mask, to.w + kept);
    kept += store_whole(v, mask, to.x + kept);
  }
  if (const std::size_t left = from.x.size() - i; left > 0) {
    const Vf v = from.values(i);
    const VWeight w = from.weights(i);
    const auto mask = hn::And(slice.of(v), hn::FirstN(d, left));
    hn::CompressBlendedStore(w, hn::RebindMask(words, mask), words, to.w + kept);
    kept += hn::CompressBlendedStore(v, mask, d, to.x + kept);
  }
  return {{to.x, kept}, {to.w, kept}};
}

/// Of those in `range`, which are at least one: few, or equal ones, among which `sum`, of larger
/// ones, reaches `wanted`; all of them reach it. They are in `to` then, which may be where they
/// were.
inline Weighed narrow(Weighed left, Slice range, std::uint64_t& sum, std::uint64_t wanted,
                      Place to) {
  constexpr std::size_t kFew = 16;
  for (bool tight = false;;) {
    const std::size_t before = left.x.size();
    range = reaching(left, range, sum, wanted);
    left = keep(left, range, to);
    if (left.x.size() <= kFew || (tight && left.x.size() == before)) {
      return left;
    }
    tight = left.x.size() == before;
    if (tight) {
      range = left.range();
    }
  }
}

/// Where a part of the row has the last token that is kept. `likely`: all that can be. `room` and
/// `spare`: as many ranks as x has elements.
inline Slice guess(std::span<const float> x, Slice likely, const LogitWeights& weights,
                   std::uint32_t top_p, std::span<Rank> room, std::span<Rank> spare) {
  constexpr std::size_t kApart = 64;  // vectors
  constexpr std::size_t kFewOf = 16;
  const Place own(room), narrowed(spare);
  std::size_t count = 0;
  for (std::size_t i = 0; i + kLanes <= x.size(); i += kApart * kLanes, count += kLanes) {
    hn::StoreU(hn::LoadU(F32(), x.data() + i), F32(), own.x + count);
  }
  // The largest is there by chance, and may weigh more than the rest.
  const Slice others{.top = below(likely.top), .bottom = likely.bottom};
  const std::span part(own.x, store_within(others, {own.x, count}, own.x));
  if (part.empty()) {
    return likely;
  }
  const Slice range = Weighed{part, {}}.range();
  const auto last = [&](const Weighed& of, std::uint64_t wanted) {
    std::uint64_t sum = 0;
    return narrow(of, range, sum, std::max<std::uint64_t>(wanted, 1), narrowed).range();
  };
  // So are the few that are next, which are all kept.
  std::ranges::fill_n(own.w, static_cast<std::ptrdiff_t>(part.size()), 1);
  const float few =
      last({part, {own.w, part.size()}}, std::min(count / kFewOf, part.size())).bottom;
  Slice slice{.top = likely.top, .bottom = few};
  const Weighed weighed = weigh(part, weights, own.w);
  if (const std::uint64_t total = weighed.total(); total > 0) {
    // Six times about what a part of as many tokens, by their weights, is off.
    const float squares =
        fold<FoldSquares>(part.size(), [&](std::size_t i, std::size_t) REPRISE_INLINED {
          return hn::ConvertTo(F32(), weighed.weights(i));
        });
    const float off = std::min(6 * std::sqrt(squares) / static_cast<float>(total), 1.0F / 3);
    const auto margin = static_cast<std::uint32_t>(
        off * static_cast<float>(std::min(top_p, SampleFilters::kWhole - top_p)));
    if (const float top = last(weighed, share_of(total, top_p - margin)).top; top < few) {
      slice.top = top;
    }
    slice.bottom = std::min(few, last(weighed, share_of(total, top_p + margin)).bottom);
  }
  return slice;
}

/// The largest tokens that reach top_p.
struct Nucleus {
  LastKept last;
  std::uint64_t weight = 0;  // of all of them
  Weighed near;              // the last one and those about it, in the order of their columns
  std::span<const Block> blocks;

  /// Of a block without the last one's column.
  std::uint64_t weight_of(std::size_t block) const {
    WeightSum dropped;
    for_each_near(block, [&](std::size_t i, hn::Mask<F32> lanes) REPRISE_INLINED {
      const auto kept = last.keeps(near.values(i), block * Block::kTokens);
      dropped.add_where(hn::AndNot(kept, lanes), WeightSum::Parts(near.weights(i)));
    });
    return blocks[block].weight - dropped.total();
  }

  /// Keeps `count` of the tokens that equal the last one.
  void cut(std::span<const float> x, std::size_t count) {
    for (std::size_t block = 0;; ++block) {
      std::size_t equal = 0;
      for_each_near(block, [&](std::size_t i, hn::Mask<F32> lanes) REPRISE_INLINED {
        const auto equals = hn::Eq(near.values(i), hn::Set(F32(), last.value));
        equal += hn::CountTrue(F32(), hn::And(equals, lanes));
      });
      if (count <= equal) {
        const auto column =
            std::ranges::find_if(x.subspan(block * Block::kTokens),
                                 [&](float logit) { return logit == last.value && --count == 0; });
        last.column = static_cast<std::int32_t>(column - x.begin());
        return;
      }
      count -= equal;
    }
  }

 private:
  /// Calls f(where a vector of those that are near begins, lanes of the block).
  template <class F>
  HWY_INLINE void for_each_near(std::size_t block, const F& f) const {
    const std::size_t end = blocks[block].end;
    for (std::size_t i = block == 0 ? 0 : blocks[block - 1].end; i < end; i += kLanes) {
      f(i, hn::FirstN(F32(), end - i));
    }
  }
};

/// To tokens that are larger: of the values in `left`, which are few or equal, the first ones, the
/// largest first, with which their weights reach `wanted`. Elements of x that have one of the
/// values are all in `left`.
inline void reach(Nucleus& nucleus, std::span<const float> x, std::span<float> left,
                  const LogitWeights& weights, std::uint64_t wanted) {
  if (!std::ranges::is_sorted(left, std::greater<>())) {  // equal ones may be many
    std::ranges::sort(left, std::greater<>());
  }
  std::size_t last = 0;
  while ((nucleus.weight += weights.of(left[last])) < wanted && last + 1 < left.size()) {
    ++last;
  }
  nucleus.last.value = left[last];
  const auto [first, end] =
      std::equal_range(left.begin(), left.end(), nucleus.last.value, std::greater<>());
  const std::ptrdiff_t kept = left.begin() + static_cast<std::ptrdiff_t>(last) + 1 - first;
  if (kept < end - first) {
    nucleus.cut(x, static_cast<std::size_t>(kept));
  }
}

/// Those of a slice are narrowed down until few are left, and these are sorted. `room` and `spare`:
/// as many ranks as x has elements.
inline Nucleus keep_likely(std::span<const float> x, float best, const LogitWeights& weights,
                           std::uint32_t top_p, std::span<Rank> room, std::span<Rank> spare,
                           std::span<Block> blocks) {
  // What is below weighs nothing. Among large numbers the next one may be farther away.
  const Slice likely{.top = best, .bottom = std::min(best - 42, below(best))};
  const Place own(spare);
  Slice slice = guess(x, likely, weights, top_p, room, spare);
  for (;;) {
    const Shares shares = share(x, weights, slice, own.x, blocks);
    const std::uint64_t wanted = wanted_of(shares.total, top_p);
    if (shares.down < wanted) {
      slice = {.top = slice.bottom, .bottom = likely.bottom};
      continue;
    }
    Nucleus nucleus;
    nucleus.near = weigh(shares.within, weights, own.w);
    nucleus.blocks = blocks;
    nucleus.weight = shares.down - nucleus.near.total();
    if (nucleus.weight >= wanted) {
      slice = {.top = likely.top, .bottom = slice.top};
      continue;
    }
    const Weighed few = narrow(nucleus.near, slice, nucleus.weight, wanted, Place(room));
    reach(nucleus, x, few.x, weights, wanted);
    return nucleus;
  }
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
