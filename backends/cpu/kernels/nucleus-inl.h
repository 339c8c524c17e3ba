// The tokens of a row that sample() keeps: all from a rank on, which is found without sorting the
// row.
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
  Largest largest(room.first(Largest::room_for(k, x.size())), k);
  add_elements(x.data(), 0, x.size(), largest);
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

/// Distances from the largest logit at which the weight of all larger ones is known.
inline constexpr float kDistances[] = {0.5F, 1, 2, 3, 4.5F, 6.5F, 9, 13};
inline constexpr std::size_t kLevels = std::size(kDistances);

struct Masses {
  std::array<std::uint64_t, kLevels> above{};  // of logits above best - kDistances[i]
  std::uint64_t total = 0;
};

inline Masses masses_of(std::span<const float> x, float best, const LogitWeights& weights) {
  constexpr std::size_t kPart = std::size_t{1} << 16U;  // what a WeightSum holds in one lane
  const F32 d;
  Masses masses;
  for (std::size_t first = 0; first < x.size(); first += kPart) {
    const std::size_t end = std::min(first + kPart, x.size());
    WeightSum above[kLevels], all;
    for (std::size_t i = first; i < end; i += kLanes) {
      const std::size_t left = std::min(end - i, kLanes);
      const Vf v = load_up_to(d, x.data() + i, left);
      const auto counts = hn::RebindMask(WeightBits(), hn::FirstN(d, left));
      const VWeight w = hn::IfThenElseZero(counts, weights.of(v));
      all.add(w);
#pragma GCC unroll 8
      for (std::size_t level = 0; level < kLevels; ++level) {
        const auto higher = hn::Gt(v, hn::Set(d, best - kDistances[level]));
        above[level].add(hn::IfThenElseZero(hn::RebindMask(WeightBits(), higher), w));
      }
    }
    masses.total += all.total();
    for (std::size_t level = 0; level < kLevels; ++level) {
      masses.above[level] += above[level].total();
    }
  }
  return masses;
}

/// The largest ones that reach top_p: those between two levels are sorted, no others. `room` and
/// `spare`: as many ranks as x has elements.
inline LastKept keep_likely(std::span<const float> x, float best, const LogitWeights& weights,
                            std::uint32_t top_p, std::span<Rank> room, std::span<Rank> spare) {
  const F32 d;
  const Masses masses = masses_of(x, best, weights);
  const std::uint64_t wanted = wanted_of(masses.total, top_p);
  std::size_t level = 0;
  while (level < kLevels && masses.above[level] < wanted) {
    ++level;
  }
  const Vf top = hn::Set(d, level == 0 ? best : best - kDistances[level - 1]);
  const Vf bottom = hn::Set(d, level == kLevels ? 0 : best - kDistances[level]);
  std::size_t count = 0;
  for (std::size_t i = 0; i < x.size(); i += kLanes) {
    const std::size_t left = std::min(x.size() - i, kLanes);
    const Vf v = load_up_to(d, x.data() + i, left);
    const auto higher = level == kLevels ? hn::Eq(v, v) : hn::Gt(v, bottom);
    const auto between = hn::And(hn::And(higher, hn::Le(v, top)), hn::FirstN(d, left));
    for_each_lane(between, [&](std::size_t lane) REPRISE_INLINED {
      const std::size_t column = i + lane;
      room[count++] = ~rank_of(x[column], static_cast<std::uint32_t>(column));
    });
  }
  sort_ranks(room.first(count), spare);  // of turned ranks the largest is the first
  for (Rank& rank : room.first(count)) {
    rank = ~rank;
  }
  return reach(room.first(count), weights, level == 0 ? 0 : masses.above[level - 1], wanted);
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
