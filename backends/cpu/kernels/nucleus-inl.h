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
    const WeightBits words;
    const auto columns = hn::Iota(words, static_cast<std::int32_t>(first));
    const auto before = hn::Not(hn::Gt(columns, hn::Set(words, column)));
    const Vf last = hn::Set(d, value);
    return hn::Or(hn::Gt(v, last), hn::And(hn::Eq(v, last), hn::RebindMask(d, before)));
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

/// Falling values, between and around which a sum of weights is looked for.
constexpr std::size_t kLevels = 8;
using Levels = std::array<float, kLevels>;

/// Values above `bottom`, or all if it is no number, and up to `top`.
struct Slice {
  float top, bottom;
  HWY_INLINE hn::Mask<F32> of(Vf v) const {
    const F32 d;
    return hn::AndNot(hn::Le(v, hn::Set(d, bottom)), hn::Le(v, hn::Set(d, top)));
  }
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

inline Weighed weigh(std::span<const float> x, const LogitWeights& weights, std::int32_t* to) {
  for (std::size_t i = 0; i < x.size(); i += kLanes) {
    const std::size_t left = std::min(x.size() - i, kLanes);
    store_up_to(WeightBits(), weights.of(load_up_to(F32(), x.data() + i, left)), to + i, left);
  }
  return {x, to};
}

struct Masses {
  std::array<std::uint64_t, kLevels> above{};
  std::uint64_t total = 0;

  /// The slice between two levels in which `sum`, which gets the weights above it, reaches
  /// `wanted`.
  Slice reaching(std::uint64_t wanted, const Levels& levels, std::uint64_t& sum) const {
    std::size_t level = 0;
    while (level < kLevels && sum + above[level] < wanted) {
      ++level;
    }
    sum += level == 0 ? 0 : above[level - 1];
    return {level == 0 ? std::numeric_limits<float>::infinity() : levels[level - 1],
            level == kLevels ? std::numeric_limits<float>::quiet_NaN() : levels[level]};
  }
};

inline Masses masses_of(const Weighed& of, const Levels& levels) {
  constexpr std::size_t kPart = std::size_t{1} << 16U;  // what a WeightSum holds in one lane
  const F32 d;
  Masses masses;
  for (std::size_t first = 0; first < of.x.size(); first += kPart) {
    const std::size_t end = std::min(first + kPart, of.x.size());
    WeightSum above[kLevels], all;
    for (std::size_t i = first; i < end; i += kLanes) {
      const std::size_t left = std::min(end - i, kLanes);
      const Vf v = of.values(i, left);
      const WeightSum::Halves w(of.weights(i, left));
      all.add(w);
#pragma GCC unroll 8
      for (std::size_t level = 0; level < kLevels; ++level) {
        above[level].add_where(hn::Gt(v, hn::Set(d, levels[level])), w);
      }
    }
    masses.total += all.total();
    for (std::size_t level = 0; level < kLevels; ++level) {
      masses.above[level] += above[level].total();
    }
  }
  return masses;
}

/// Those of a slice that have weights go to `to`, which may be where they are.
inline Weighed keep(const Weighed& from, Slice slice, float* to, std::int32_t* to_weights) {
  const F32 d;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < from.x.size(); i += kLanes) {
    const std::size_t left = std::min(from.x.size() - i, kLanes);
    const Vf v = from.values(i, left);
    const VWeight w = from.weights(i, left);
    const auto keeps = hn::And(slice.of(v), hn::RebindMask(d, hn::Gt(w, hn::Zero(WeightBits()))));
    if (!hn::AllFalse(d, keeps)) {
      hn::CompressBlendedStore(w, hn::RebindMask(WeightBits(), keeps), WeightBits(),
                               to_weights + kept);
      kept += hn::CompressBlendedStore(v, keeps, d, to + kept);
    }
  }
  return {{to, kept}, to_weights};
}

/// The largest ones that reach top_p: those between two levels are narrowed down until few are
/// left, and these are sorted. `room` and `spare`: as many ranks as x has elements.
inline LastKept keep_likely(std::span<const float> x, float best, const LogitWeights& weights,
                            std::uint32_t top_p, std::span<Rank> room, std::span<Rank> spare) {
  constexpr std::size_t kFew = 64;
  Levels levels{0.5F, 1, 2, 3, 4.5F, 6.5F, 9, 13};
  for (float& level : levels) {
    level = best - level;
  }
  auto* const values = reinterpret_cast<float*>(spare.data());
  auto* const own_weights = reinterpret_cast<std::int32_t*>(values + x.size());
  Weighed left = weigh(x, weights, own_weights);
  const Masses masses = masses_of(left, levels);
  const std::uint64_t wanted = wanted_of(masses.total, top_p);
  std::uint64_t sum = 0;
  left = keep(left, masses.reaching(wanted, levels, sum), values, own_weights);
  if (left.x.empty()) {
    return {};
  }
  Slice range = left.range();
  for (std::size_t before = 0;
       left.x.size() > kFew && left.x.size() != before && range.bottom < range.top;
       range = left.range()) {
    before = left.x.size();
    for (std::size_t level = 0; level < kLevels; ++level) {
      constexpr float kSlices = kLevels + 1;
      levels[level] =
          range.top - (range.top - range.bottom) * static_cast<float>(level + 1) / kSlices;
    }
    left = keep(left, masses_of(left, levels).reaching(wanted, levels, sum), values, own_weights);
  }
  const F32 d;
  std::size_t count = 0;
  for (std::size_t i = 0; i < x.size(); i += kLanes) {
    const std::size_t some = std::min(x.size() - i, kLanes);
    const Vf v = load_up_to(d, x.data() + i, some);
    const auto in = hn::And(hn::Ge(v, hn::Set(d, range.bottom)), hn::Le(v, hn::Set(d, range.top)));
    for_each_lane(hn::And(in, hn::FirstN(d, some)), [&](std::size_t lane) REPRISE_INLINED {
      const std::size_t column = i + lane;
      room[count++] = ~rank_of(x[column], static_cast<std::uint32_t>(column));
    });
  }
  sort_ranks(room.first(count), spare);  // of turned ranks the largest is the first
  for (Rank& rank : room.first(count)) {
    rank = ~rank;
  }
  return reach(room.first(count), weights, sum, wanted);
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
