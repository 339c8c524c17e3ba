// The tokens of a row that sample() keeps: all from a rank on, which is found without sorting the
// row.
#include <array>
#include <cmath>
#include <utility>

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

/// Numbers, falling at best, between and around which a sum of weights is looked for.
template <std::size_t N>
using Levels = std::array<float, N>;
using RowLevels = Levels<4>;

/// Values above `bottom`, or all if it is no number, and up to `top`.
struct Slice {
  float top = std::numeric_limits<float>::infinity();
  float bottom = std::numeric_limits<float>::quiet_NaN();
  HWY_INLINE hn::Mask<F32> of(Vf v) const {
    const F32 d;
    return hn::AndNot(hn::Le(v, hn::Set(d, bottom)), hn::Le(v, hn::Set(d, top)));
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
  std::span<const float> x;
  const std::int32_t* w;

  HWY_INLINE Vf values(std::size_t i, std::size_t left) const {
    return load_up_to(F32(), x.data() + i, left);
  }
  HWY_INLINE VWeight weights(std::size_t i, std::size_t left) const {
    return load_up_to(WeightBits(), w + i, left);
  }
  /// All are in it.
  Slice range() const {
    const F32 d;
    Vf low = hn::Set(d, x[0]), high = low;
    for (std::size_t i = 0; i < x.size(); i += kLanes) {
      const std::size_t left = std::min(x.size() - i, kLanes);
      const Vf v = hn::IfThenElse(hn::FirstN(d, left), values(i, left), low);
      low = hn::Min(low, v);
      high = hn::Max(high, v);
    }
    return {hn::GetLane(hn::MaxOfLanes(d, high)), hn::GetLane(hn::MinOfLanes(d, low))};
  }
};

template <std::size_t N>
struct Masses {
  std::array<std::uint64_t, N> above{};
  std::uint64_t total = 0;

  /// The slice between two levels in which `sum`, which gets the weights above it, reaches
  /// `wanted`.
  Slice reaching(std::uint64_t wanted, const Levels<N>& levels, std::uint64_t& sum) const {
    std::size_t level = 0;
    while (level < N && sum + above[level] < wanted) {
      ++level;
    }
    sum += level == 0 ? 0 : above[level - 1];
    return {level == 0 ? std::numeric_limits<float>::infinity() : levels[level - 1],
            level == N ? std::numeric_limits<float>::quiet_NaN() : levels[level]};
  }
};

/// weights(v, i, left): those of v, the elements from i on.
template <std::size_t N, class Weights>
HWY_INLINE Masses<N> masses_of(std::span<const float> x, const Levels<N>& levels,
                               Weights&& weights) {
  constexpr std::size_t kPart = std::size_t{1} << 16U;  // what a WeightSum holds in one lane
  const F32 d;
  Masses<N> masses;
  for (std::size_t first = 0; first < x.size(); first += kPart) {
    const std::size_t end = std::min(first + kPart, x.size());
    WeightSum above[N], all;
    for (std::size_t i = first; i < end; i += kLanes) {
      const std::size_t left = std::min(end - i, kLanes);
      const Vf v = load_up_to(d, x.data() + i, left);
      const WeightSum::Halves w(weights(v, i, left));
      all.add(w);
#pragma GCC unroll 8
      for (std::size_t level = 0; level < N; ++level) {
        above[level].add_where(hn::Gt(v, hn::Set(d, levels[level])), w);
      }
    }
    masses.total += all.total();
    for (std::size_t level = 0; level < N; ++level) {
      masses.above[level] += above[level].total();
    }
  }
  return masses;
}

/// The weights of x go to `to`.
inline Masses<4> weigh(std::span<const float> x, const RowLevels& levels,
                       const LogitWeights& weights, std::int32_t* to) {
  return masses_of(x, levels, [&](Vf v, std::size_t i, std::size_t left) REPRISE_INLINED {
    const WeightBits words;
    const VWeight w = weights.of(v);
    store_up_to(words, w, to + i, left);
    return left >= kLanes ? w : hn::IfThenElseZero(hn::FirstN(words, left), w);
  });
}

/// Those of a slice that have weights go to `to`, which may be where they are.
inline Weighed keep(const Weighed& from, Slice slice, Place to) {
  const F32 d;
  const WeightBits words;
  std::size_t kept = 0;
  const auto keeps = [&](Vf v, VWeight w) REPRISE_INLINED {
    return hn::And(slice.of(v), hn::RebindMask(d, hn::Gt(w, hn::Zero(words))));
  };
  std::size_t i = 0;
  // Whole vectors are stored whether they keep anything or not: a branch would go either way.
  for (; i + kLanes <= from.x.size(); i += kLanes) {
    const Vf v = hn::LoadU(d, from.x.data() + i);
    const VWeight w = hn::LoadU(words, from.w + i);
    const auto mask = keeps(v, w);
    hn::StoreU(hn::Compress(v, mask), d, to.x + kept);
    hn::StoreU(hn::Compress(w, hn::RebindMask(words, mask)), words, to.w + kept);
    kept += hn::CountTrue(d, mask);
  }
  if (i < from.x.size()) {
    const Vf v = from.values(i, from.x.size() - i);
    const VWeight w = from.weights(i, from.x.size() - i);
    const auto mask = keeps(v, w);
    hn::CompressBlendedStore(w, hn::RebindMask(words, mask), words, to.w + kept);
    kept += hn::CompressBlendedStore(v, mask, d, to.x + kept);
  }
  return {{to.x, kept}, to.w};
}

/// Few, or equal ones, among which `sum`, of larger ones, reaches `wanted`. `left`: at least one,
/// and all of them with `sum` reach it. `to`: room for as many, which may be where they are.
inline Weighed narrow(Weighed left, std::uint64_t& sum, std::uint64_t wanted, Place to) {
  constexpr std::size_t kFew = 64, kLevels = 8;
  Slice range = left.range();
  for (std::size_t before = 0;
       left.x.size() > kFew && left.x.size() != before && range.bottom < range.top;
       range = left.range()) {
    before = left.x.size();
    Levels<kLevels> levels;
    for (std::size_t level = 0; level < kLevels; ++level) {
      constexpr float kSlices = kLevels + 1;
      levels[level] =
          range.top - (range.top - range.bottom) * static_cast<float>(level + 1) / kSlices;
    }
    const auto masses = masses_of(left.x, levels,
                                  [&](Vf, std::size_t i, std::size_t some)
                                      REPRISE_INLINED { return left.weights(i, some); });
    left = keep(left, masses.reaching(wanted, levels, sum), to);
  }
  return left;
}

/// Levels around the last one that is kept in a part of the row, between it and the largest, and
/// below it. The largest is no part of that: it is there by chance, and may weigh more than the
/// rest. `room` and `spare`: as many ranks as x has elements.
inline RowLevels guess(std::span<const float> x, float best, const LogitWeights& weights,
                       std::uint32_t top_p, std::span<Rank> room, std::span<Rank> spare) {
  constexpr std::size_t kApart = 64;  // vectors
  const Place own(room);
  std::size_t count = 0;
  for (std::size_t i = 0; i + kLanes <= x.size(); i += kApart * kLanes, count += kLanes) {
    hn::StoreU(hn::LoadU(F32(), x.data() + i), F32(), own.x + count);
  }
  const float next = std::nextafter(best, -std::numeric_limits<float>::infinity());
  RowLevels levels{next, best - 3, best - 6, best - 13};
  const auto masses = weigh({own.x, count}, levels, weights, own.w);
  const std::uint64_t total = masses.total - masses.above[0];
  if (total > 0) {
    const Weighed part = keep({{own.x, count}, own.w}, {.top = next}, own);
    const std::uint32_t margin = std::min(top_p, SampleFilters::kWhole - top_p) / 3;
    std::uint64_t above = 0, below = 0;
    levels[1] = narrow(part, above, wanted_of(total, top_p - margin), Place(spare)).range().top;
    levels[2] = narrow(part, below, wanted_of(total, top_p + margin), Place(spare)).range().bottom;
    levels[0] = best / 2 + levels[1] / 2;
    levels[3] = levels[2] - (best - levels[2]) / 2;
  }
  return levels;
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

/// The largest ones that reach top_p: those between two levels are narrowed down until few are
/// left, and these are sorted. `room` and `spare`: as many ranks as x has elements.
inline LastKept keep_likely(std::span<const float> x, float best, const LogitWeights& weights,
                            std::uint32_t top_p, std::span<Rank> room, std::span<Rank> spare) {
  const RowLevels levels = guess(x, best, weights, top_p, room, spare);
  const Place own(spare);
  const auto masses = weigh(x, levels, weights, own.w);
  const std::uint64_t wanted = wanted_of(masses.total, top_p);
  std::uint64_t sum = 0;
  const Weighed near = keep({x, own.w}, masses.reaching(wanted, levels, sum), own);
  const std::size_t count = narrow(near, sum, wanted, own).x.size();
  return reach(x, {own.x, count}, weights, sum, wanted);
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
