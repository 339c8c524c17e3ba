// Sums in f64, in one order on every processor.
#include <array>

#include "backends/cpu/kernels/simd-inl.h"

#if defined(REPRISE_WIDE_SUM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_WIDE_SUM_INL_H
#undef REPRISE_WIDE_SUM_INL_H
#else
#define REPRISE_WIDE_SUM_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

/// Element i is added to chain i mod 16; chains are added in pairs at the end.
class WideSum {
 public:
  HWY_INLINE WideSum() {
    for (auto& part : parts_) {
      part = hn::Zero(D());
    }
  }
  /// Adds elements; all but the last call with a multiple of 16.
  HWY_INLINE void add(const float* x, std::size_t count) {
    std::size_t i = 0;
    for (; i + kChains <= count; i += kChains) {
      add_chains(x + i);
    }
    if (i < count) {
      float rest[kChains] = {};
      std::copy(x + i, x + count, rest);
      add_chains(rest);
    }
  }
  HWY_INLINE double total() const {
    HWY_ALIGN double chains[kChains];
    for (std::size_t p = 0; p < kParts; ++p) {
      hn::Store(parts_[p], D(), chains + p * kWidth);
    }
    for (std::size_t half = kChains / 2; half > 0; half /= 2) {
      for (std::size_t i = 0; i < half; ++i) {
        chains[i] += chains[i + half];
      }
    }
    return chains[0];
  }

 private:
  static constexpr std::size_t kChains = 16;
  using D = hn::CappedTag<double, 8>;
  static constexpr std::size_t kWidth = hn::MaxLanes(D());
  static constexpr std::size_t kParts = kChains / kWidth;

  HWY_INLINE void add_chains(const float* x) {
    const hn::Rebind<float, D> narrow;
#pragma GCC unroll 8
    for (std::size_t p = 0; p < kParts; ++p) {
      parts_[p] = hn::Add(parts_[p], hn::PromoteTo(D(), hn::LoadU(narrow, x + p * kWidth)));
    }
  }
  hn::Vec<D> parts_[kParts];
};

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
