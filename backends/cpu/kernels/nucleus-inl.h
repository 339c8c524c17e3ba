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

/// Of the elements of a row.
struct Shares {
  std::uint64_t above = 0, total = 0;  // weights of those above a slice, and of all
  std::span<float> within;             // those of the slice
};

/// `to`: room for the row, which may be where it is.
inline Shares share(std::span<const float> x, const LogitWeights& weights, Slice slice, float* to) {
  const F32 d;
  const Vf none = hn::Set(d, -std::numeric_limits<float>::infinity());
  Shares shares;
  std::size_t kept = 0;
  for (std::size_t first = 0; first < x.size(); first += WeightSum::kMost) {
    const std::size_t end = std::min(first + WeightSum::kMost, x.size());
    WeightSum above, all;
    const auto add = [&](Vf v) REPRISE_INLINED {
      const WeightSum::Parts w(weights.of(v));
      all.add(w);
      above.add_where(hn::Gt(v, hn::Set(d, slice.top)), w);
      return slice.of(v);
    };
    std::size_t i = first;
    // Whole vectors are stored whether they keep anything or not: a branch would go either way.
    for (; i + kLanes <= end; i += kLanes) {
      const Vf v = hn::LoadU(d, x.data() + i);
      const auto within = add(v);
      hn::StoreU(hn::Compress(v, within), d, to + kept);
      kept += hn::CountTrue(d, within);
    }
    if (i < end) {
      const Vf v =
          hn::IfThenElse(hn::FirstN(d, end - i), load_up_to(d, x.data() + i, end - i), none);
      const auto within = add(v);
      kept += hn::CompressBlendedStore(v, within, d, to + kept);
    }
    shares.total += all.total();
    shares.above += above.total();
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

/// Those of a slice go to `to`, which may be where they are.
inline Weighed keep(const Weighed& from, Slice slice, Place to) {
  const F32 d;
  const WeightBits words;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < from.x.size(); i += kLanes) {
    const Vf v = from.values(i);
    const VWeight w = from.weights(i);
    const auto mask = hn::And(slice.of(v), hn::FirstN(d, from.x.size() - i));
    hn::CompressBlendedStore(w, hn::RebindMask(words, mask), words, to.w + kept);
    kept += hn::CompressBlendedStore(v, mask, d, to.x + kept);
  }
  return {{to.x, kept}, {to.w, kept}};
}

/// Few, or equal ones, among which `sum`, of larger ones, reaches `wanted`. `left`: at least one,
/// and all of them with `sum` reach it. `to`: room for as many, which may be where they are.
inline Weighed narrow(Weighed left, std::uint64_t& sum, std::uint64_t wanted, Place to) {
  constexpr std::size_t kFew = 16;
  for (std::size_t before = 0; left.x.size() > kFew && left.x.size() != before;) {
    before = left.x.size();
    left = keep(left, reaching(left, left.range(), sum, wanted), to);
  }
  return left;
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
  const std::span part = share({own.x, count}, weights, others, own.x).within;
  if (part.empty()) {
    return likely;
  }
  const auto last = [&](const Weighed& of, std::uint64_t wanted) {
    std::uint64_t sum = 0;
    return narrow(of, sum, std::max<std::uint64_t>(wanted, 1), narrowed).range();
  };
  // So are the few that are next, which are all kept.
  std::ranges::fill_n(own.w, static_cast<std::ptrdiff_t>(part.size()), 1);
  const float few =
      last({part, {own.w, part.size()}}, std::min(count / kFewOf, part.size())).bottom;
  Slice slice{.top = likely.top, .bottom = few};
  const Weighed weighed = weigh(part, weights, own.w);
  if (const std::uint64_t total = weighed.total(); total > 0) {
    const std::uint32_t margin = std::min(top_p, SampleFilters::kWhole - top_p) / 3;
    if (const float top = last(weighed, share_of(total, top_p - margin)).top; top < few) {
      slice.top = top;
    }
    slice.bottom = std::min(few, last(weighed, share_of(total, top_p + margin)).bottom);
  }
  return slice;
}

/// Of the values in `left`, which are few or equal: the first ones, the largest first, whose
/// weights reach `wanted` together with `sum`. Elements of x that have one of the values are all in
/// `left`.
inline LastKept reach(std::span<const float> x, std::span<float> left, const LogitWeights& weights,
                      std::uint64_t sum, std::uint64_t wanted) {
  if (!std::ranges::is_sorted(left, std::greater<>())) {  // equal ones may be many
    std::ranges::sort(left, std::greater<>());
  }
  std::size_t last = 0;
  while (last + 1 < left.size() && (sum += weights.of(left[last])) < wanted) {
    ++last;
  }
  LastKept result{.value = left[last]};
  const auto [first, end] =
      std::equal_range(left.begin(), left.end(), result.value, std::greater<>());
  std::ptrdiff_t kept = left.begin() + static_cast<std::ptrdiff_t>(last) + 1 - first;
  if (kept < end - first) {
    const auto column =
        std::ranges::find_if(x, [&](float logit) { return logit == result.value && --kept == 0; });
    result.column = static_cast<std::int32_t>(column - x.begin());
  }
  return result;
}

/// The largest ones that reach top_p: those of a slice are narrowed down until few are left, and
/// these are sorted. `room` and `spare`: as many ranks as x has elements.
inline LastKept keep_likely(std::span<const float> x, float best, const LogitWeights& weights,
                            std::uint32_t top_p, std::span<Rank> room, std::span<Rank> spare) {
  // What is below weighs nothing. Among large numbers the next one may be farther away.
  const Slice likely{.top = best, .bottom = std::min(best - 42, below(best))};
  const Place own(spare);
  Slice slice = guess(x, likely, weights, top_p, room, spare);
  for (;;) {
    const Shares shares = share(x, weights, slice, own.x);
    const std::uint64_t wanted = wanted_of(shares.total, top_p);
    const Weighed near = weigh(shares.within, weights, own.w);
    if (std::uint64_t sum = shares.above; sum >= wanted) {
      slice = {.top = likely.top, .bottom = slice.top};
    } else if (sum + near.total() < wanted) {
      slice = {.top = slice.bottom, .bottom = likely.bottom};
    } else {
      const Weighed few = narrow(near, sum, wanted, own);
      return reach(x, few.x, weights, sum, wanted);
    }
  }
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
