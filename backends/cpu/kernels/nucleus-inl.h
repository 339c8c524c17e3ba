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

/// Logits with weights, in any order, among which a sum of weights is reached.
struct Candidates {
  float* values;
  std::int32_t* weights;
  std::size_t count;

  /// The smallest and the largest value.
  std::pair<float, float> range() const {
    const F32 d;
    Vf low = hn::Set(d, values[0]), high = low;
    for_each([&](std::size_t /*i*/, Vf v, hn::Mask<F32> in) REPRISE_INLINED {
      low = hn::IfThenElse(in, hn::Min(low, v), low);
      high = hn::IfThenElse(in, hn::Max(high, v), high);
    });
    return {hn::GetLane(hn::MinOfLanes(d, low)), hn::GetLane(hn::MaxOfLanes(d, high))};
  }
  /// Keeps those of one step of 256 between the largest and the smallest: the one in which `sum`,
  /// which gets the weights of larger ones, reaches `wanted`. False if that leaves all of them.
  bool narrow(std::uint64_t& sum, std::uint64_t wanted) {
    constexpr std::size_t kSteps = 256;
    const auto [low, high] = range();
    const float scale = static_cast<float>(kSteps) / (high - low);
    if (!std::isfinite(scale) || scale == 0) {  // all are equal, or too far apart
      return false;
    }
    const F32 d;
    const auto steps_of = [&, top = high](Vf v) REPRISE_INLINED {  // they grow as values fall
      const Vf steps = hn::Mul(hn::Sub(hn::Set(d, top), v), hn::Set(d, scale));
      return hn::ConvertTo(WeightBits(), hn::Min(steps, hn::Set(d, kSteps - 1)));
    };
    std::array<std::uint64_t, kSteps> steps{};
    for_each([&](std::size_t i, Vf v, hn::Mask<F32> /*in*/) REPRISE_INLINED {
      HWY_ALIGN std::int32_t lanes[kLanes];
      hn::Store(steps_of(v), WeightBits(), lanes);
      for (std::size_t lane = 0; lane < std::min(count - i, kLanes); ++lane) {
        steps[static_cast<std::size_t>(lanes[lane])] +=
            static_cast<std::uint32_t>(weights[i + lane]);
      }
    });
    std::size_t step = 0;
    while (step + 1 < kSteps && sum + steps[step] < wanted) {
      sum += steps[step++];
    }
    const auto chosen = hn::Set(WeightBits(), static_cast<std::int32_t>(step));
    std::size_t kept = 0;
    for_each([&](std::size_t i, Vf v, hn::Mask<F32> in) REPRISE_INLINED {
      const auto of_step = hn::RebindMask(d, hn::Eq(steps_of(v), chosen));
      kept += keep(hn::And(of_step, in), v, load_up_to(WeightBits(), weights + i, count - i), kept);
    });
    return kept < std::exchange(count, kept);
  }
  /// Puts the lanes of a mask to those from `at` on; returns how many they are.
  HWY_INLINE std::size_t keep(hn::Mask<F32> lanes, Vf v, VWeight w, std::size_t at) const {
    hn::CompressBlendedStore(w, hn::RebindMask(WeightBits(), lanes), WeightBits(), weights + at);
    return hn::CompressBlendedStore(v, lanes, F32(), values + at);
  }

 private:
  /// Calls f(index, values, which of them there are).
  template <class F>
  HWY_INLINE void for_each(F&& f) const {
    for (std::size_t i = 0; i < count; i += kLanes) {
      const std::size_t left = std::min(count - i, kLanes);
      f(i, load_up_to(F32(), values + i, left), hn::FirstN(F32(), left));
    }
  }
};

/// The candidates above `bottom`, if it is a number, and up to `top`. `room`: a rank's for each x.
inline Candidates between(std::span<const float> x, const LogitWeights& weights, float bottom,
                          float top, std::span<Rank> room) {
  const F32 d;
  auto* const values = reinterpret_cast<float*>(room.data());
  Candidates found{values, reinterpret_cast<std::int32_t*>(values + x.size()), 0};
  for (std::size_t i = 0; i < x.size(); i += kLanes) {
    const std::size_t left = std::min(x.size() - i, kLanes);
    const Vf v = load_up_to(d, x.data() + i, left);
    const auto low = std::isnan(bottom) ? hn::Eq(v, v) : hn::Gt(v, hn::Set(d, bottom));
    const auto in = hn::And(hn::And(low, hn::Le(v, hn::Set(d, top))), hn::FirstN(d, left));
    if (hn::AllFalse(d, in)) {
      continue;
    }
    const VWeight w = weights.of(v);
    const auto counts = hn::RebindMask(d, hn::Gt(w, hn::Zero(WeightBits())));
    found.count += found.keep(hn::And(in, counts), v, w, found.count);
  }
  return found;
}

/// The largest ones that reach top_p: those between two levels are narrowed down until few are
/// left, and these are sorted. `room` and `spare`: as many ranks as x has elements.
inline LastKept keep_likely(std::span<const float> x, float best, const LogitWeights& weights,
                            std::uint32_t top_p, std::span<Rank> room, std::span<Rank> spare) {
  constexpr std::size_t kFew = 64;
  const Masses masses = masses_of(x, best, weights);
  const std::uint64_t wanted = wanted_of(masses.total, top_p);
  std::size_t level = 0;
  while (level < kLevels && masses.above[level] < wanted) {
    ++level;
  }
  const float top = level == 0 ? best : best - kDistances[level - 1];
  const float bottom =
      level == kLevels ? std::numeric_limits<float>::quiet_NaN() : best - kDistances[level];
  std::uint64_t sum = level == 0 ? 0 : masses.above[level - 1];
  Candidates candidates = between(x, weights, bottom, top, spare);
  if (candidates.count == 0) {
    return {};
  }
  while (candidates.count > kFew && candidates.narrow(sum, wanted)) {
  }
  const F32 d;
  const auto [low, high] = candidates.range();
  std::size_t count = 0;
  for (std::size_t i = 0; i < x.size(); i += kLanes) {
    const std::size_t left = std::min(x.size() - i, kLanes);
    const Vf v = load_up_to(d, x.data() + i, left);
    const auto in = hn::And(hn::Ge(v, hn::Set(d, low)), hn::Le(v, hn::Set(d, high)));
    for_each_lane(hn::And(in, hn::FirstN(d, left)), [&](std::size_t lane) REPRISE_INLINED {
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
