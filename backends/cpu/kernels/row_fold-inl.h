// What kernels of rows share: rows that become one number, and rows that are written.
#include <algorithm>
#include <limits>

#include "backends/cpu/kernels/simd-inl.h"

#if defined(REPRISE_ROW_FOLD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_ROW_FOLD_INL_H
#undef REPRISE_ROW_FOLD_INL_H
#else
#define REPRISE_ROW_FOLD_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

/// Folds: where they begin, a vector more, two of them as one, all lanes of one.
struct FoldSum {
  static constexpr float kFirst = 0;
  static HWY_INLINE Vf add(Vf all, Vf v) { return hn::Add(all, v); }
  static HWY_INLINE Vf merge(Vf a, Vf b) { return hn::Add(a, b); }
  static HWY_INLINE float lanes(Vf v) { return hn::GetLane(hn::SumOfLanes(F32(), v)); }
};
struct FoldSquares : FoldSum {
  static HWY_INLINE Vf add(Vf all, Vf v) { return hn::MulAdd(v, v, all); }
};
/// NaN never wins.
struct FoldMax {
  static constexpr float kFirst = -std::numeric_limits<float>::infinity();
  static HWY_INLINE Vf add(Vf all, Vf v) {
#if HWY_ARCH_X86
    return hn::Max(v, all);  // the second operand where one is NaN
#else
    return hn::IfThenElse(hn::Gt(v, all), v, all);
#endif
  }
  static HWY_INLINE Vf merge(Vf a, Vf b) { return add(a, b); }
  static HWY_INLINE float lanes(Vf v) { return hn::GetLane(hn::MaxOfLanes(F32(), v)); }
};

/// NaN wins.
struct FoldMaxOrNan {
  static constexpr float kFirst = -std::numeric_limits<float>::infinity();
  static HWY_INLINE Vf add(Vf all, Vf v) {
    return hn::IfThenElse(hn::Or(hn::Gt(v, all), hn::IsNaN(v)), v, all);
  }
  static HWY_INLINE Vf merge(Vf a, Vf b) { return add(a, b); }
  static HWY_INLINE float lanes(Vf v) {
    return hn::AllFalse(F32(), hn::IsNaN(v)) ? hn::GetLane(hn::MaxOfLanes(F32(), v))
                                             : std::numeric_limits<float>::quiet_NaN();
  }
};

/// Folds the vectors f(first element, elements left) of `count` elements in four chains; lanes
/// behind the last element do not count. One order for every number of threads.
template <class Fold, class F>
HWY_INLINE float fold(std::size_t count, const F& f) {
  const F32 d;
  const Vf first = hn::Set(d, Fold::kFirst);
  Vf chains[4] = {first, first, first, first};
  std::size_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
#pragma GCC unroll 4
    for (std::size_t j = 0; j < 4; ++j) {
      chains[j] = Fold::add(chains[j], f(i + j * kLanes, kLanes));
    }
  }
  for (; i < count; i += kLanes) {
    const auto counts = hn::FirstN(d, std::min(count - i, kLanes));
    chains[0] = Fold::add(chains[0], hn::IfThenElse(counts, f(i, count - i), first));
  }
  return Fold::lanes(
      Fold::merge(Fold::merge(chains[0], chains[1]), Fold::merge(chains[2], chains[3])));
}

/// The first element that equals `value`, or `count`.
HWY_INLINE std::size_t first_of(float value, const float* x, std::size_t count) {
  const F32 d;
  const Vf wanted = hn::Set(d, value);
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const auto lane = hn::FindFirstTrue(d, hn::Eq(hn::LoadU(d, x + i), wanted));
    if (lane >= 0) {
      return i + static_cast<std::size_t>(lane);
    }
  }
  return static_cast<std::size_t>(std::find(x + i, x + count, value) - x);
}

/// Writes the vectors f(first element, elements left) to y.
template <class F>
HWY_INLINE void write_row(float* y, std::size_t count, const F& f) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    hn::StoreU(f(i, kLanes), F32(), y + i);
  }
  if (i < count) {
    store_part(F32(), f(i, count - i), y + i, count - i);
  }
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
