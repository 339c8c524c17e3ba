// Adds the elements of a row to a selection of the largest ones, passing over what cannot be among
// them a few vectors at a time.
#include <cmath>

#include "backends/cpu/kernels/simd-inl.h"
#include "backends/cpu/selection.h"

#if defined(REPRISE_SELECTION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_SELECTION_INL_H
#undef REPRISE_SELECTION_INL_H
#else
#define REPRISE_SELECTION_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

/// Calls f(i) for the lanes of a mask that are set.
template <class F>
HWY_INLINE void for_each_lane(hn::Mask<F32> mask, const F& f) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(F32(), mask, bytes);
  std::uint64_t bits;
  std::memcpy(&bits, bytes, sizeof bits);
  for (; bits != 0; bits &= bits - 1) {
    f(static_cast<std::size_t>(std::countr_zero(bits)));
  }
}

/// Columns from `first` on, after those added before.
HWY_INLINE void add_elements(const float* x, std::size_t first, std::size_t count,
                             Largest& largest) {
  const F32 d;
  std::size_t i = 0;
  for (; i < count && !largest.has_floor(); ++i) {
    largest.add(x[i], static_cast<std::uint32_t>(first + i));
  }
  constexpr std::size_t kAtOnce = 4 * kLanes;
  while (i < count) {
    const Vf floor = hn::Set(d, largest.floor());
    const bool numbers_pass = std::isnan(largest.floor());
    if (!numbers_pass && i + kAtOnce <= count) {
      const auto above = [&](std::size_t j) REPRISE_INLINED {
        return hn::Gt(hn::LoadU(d, x + i + j * kLanes), floor);
      };
      if (hn::AllFalse(d, hn::Or(hn::Or(above(0), above(1)), hn::Or(above(2), above(3))))) {
        i += kAtOnce;
        continue;
      }
    }
    const std::size_t left = std::min(count - i, kAtOnce);
    for (std::size_t j = 0; j < left; j += kLanes) {
      const std::size_t some = std::min(left - j, kLanes);
      const Vf v = load_up_to(d, x + i + j, some);
      const auto passes = numbers_pass ? hn::Not(hn::IsNaN(v)) : hn::Gt(v, floor);
      for_each_lane(hn::And(passes, hn::FirstN(d, some)), [&](std::size_t lane) REPRISE_INLINED {
        const std::size_t at = i + j + lane;
        largest.add(x[at], static_cast<std::uint32_t>(first + at));
      });
    }
    i += left;
  }
}

/// The k largest of a row. `room`: as Largest needs it. What is far from them in a sixteenth of a
/// long row is passed over at once; if that was too much, which the row's order may cause, all is
/// added again.
inline Largest largest_of(std::span<const float> x, std::size_t k, std::span<Rank> room) {
  constexpr std::size_t kTogether = 4 * kLanes, kApart = 16 * kTogether;
  const std::size_t share = k / 16;
  const std::size_t few =
      share + 8 + 4 * static_cast<std::size_t>(std::sqrt(static_cast<float>(share)));
  Largest largest(room, k);
  if (x.size() / kApart * kTogether >= 8 * few) {
    Largest part(room, few);
    for (std::size_t i = 0; i + kTogether <= x.size(); i += kApart) {
      add_elements(x.data() + i, i, kTogether, part);
    }
    largest.set_floor(value_of(std::ranges::min(part.chosen())));
  }
  add_elements(x.data(), 0, x.size(), largest);
  if (largest.count() < k && largest.has_floor()) {
    largest = Largest(room, k);
    add_elements(x.data(), 0, x.size(), largest);
  }
  return largest;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
