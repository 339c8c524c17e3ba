// x times the distribution function of the normal distribution, good to a few ulp.
#include <array>
#include <cmath>
#include <numbers>

#include "backends/cpu/kernels/activations-inl.h"

#if defined(REPRISE_GELU_ERF_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_GELU_ERF_INL_H
#undef REPRISE_GELU_ERF_INL_H
#else
#define REPRISE_GELU_ERF_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

/// x times 1 - q, or q where x is negative. 2q is erfc(|x| / sqrt(2)), as in
/// shaders/include/erfc.glsl.
HWY_INLINE Vf gelu_erf_of(Vf x) {
  const F32 d;
  const Vf one = hn::Set(d, 1.0F);
  const Vf z = hn::Mul(hn::Abs(x), hn::Set(d, 0.707106781F));
  const Vf t = hn::Div(one, hn::MulAdd(hn::Set(d, 0.37F), z, one));
  const Vf p = polynomial(
      t, {0.0620600844F / 2, -0.303940712F / 2, 0.488227331F / 2, -0.286907224F / 2,
          0.31191463F / 2, 0.106040016F / 2, 0.206379147F / 2, 0.207411884F / 2, 0.20881483F / 2});
  const Vf q = hn::Mul(hn::Mul(p, t), exp_up_to_89(hn::NegMulAdd(z, z, hn::Zero(d))));
  return hn::Mul(x, hn::IfThenElse(hn::Lt(x, hn::Zero(d)), q, hn::Sub(one, q)));
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/// One instruction looks up 16 of 32 numbers: polynomials about that many points take half of the
/// arithmetic of gelu_erf_of().
class GeluErf {
 public:
  HWY_INLINE GeluErf() {
    const Polynomials& all = polynomials();
    for (std::size_t i = 0; i < kTerms; ++i) {
      low_[i] = _mm512_loadu_ps(all[i].data());
      high_[i] = _mm512_loadu_ps(all[i].data() + kLanes);
    }
  }

  static HWY_INLINE bool takes(Vf x) {
    const F32 d;
    constexpr auto kReach = static_cast<float>(kApart * (kPoints - 1) / 2);
    return hn::AllTrue(d, hn::Lt(hn::Abs(x), hn::Set(d, kReach)));
  }
  static HWY_INLINE Vf anywhere(Vf x) { return gelu_erf_of(x); }
  HWY_INLINE Vf of(Vf x) const {
    const F32 d;
    // The sum has no digits behind the point: its last bits are the point's number.
    const Vf digits = hn::Set(d, 0x1.8p23F), scale = hn::Set(d, static_cast<float>(1 / kApart));
    const Vf shifted = hn::MulAdd(x, scale, digits);
    const Vf rest = hn::MulSub(x, scale, hn::Sub(shifted, digits));
    const __m512i point = _mm512_castps_si512(shifted.raw);
    Vf p{_mm512_permutex2var_ps(low_[kTerms - 1], point, high_[kTerms - 1])};
#pragma GCC unroll 8
    for (std::size_t i = kTerms - 1; i-- > 0;) {
      p = hn::MulAdd(p, rest, Vf{_mm512_permutex2var_ps(low_[i], point, high_[i])});
    }
    return hn::Mul(x, p);
  }

 private:
  static constexpr std::size_t kPoints = 32, kTerms = 8;
  static constexpr double kApart = 0.35;
  using Polynomials = std::array<std::array<float, kPoints>, kTerms>;

  /// Those that have the right values at Chebyshev's points, by Newton's differences. Point i and
  /// point i - kPoints share a place.
  static Polynomials interpolate() {
    Polynomials all;
    std::array<double, kTerms> at;
    for (std::size_t i = 0; i < kTerms; ++i) {
      at[i] = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.5) / kTerms) / 2;
    }
    for (std::size_t place = 0; place < kPoints; ++place) {
      const double point = static_cast<double>(place) - (place < kPoints / 2 ? 0 : kPoints);
      std::array<double, kTerms> c;
      for (std::size_t i = 0; i < kTerms; ++i) {
        c[i] = std::erfc(-(point + at[i]) * kApart / std::numbers::sqrt2) / 2;
      }
      for (std::size_t step = 1; step < kTerms; ++step) {
        for (std::size_t i = kTerms - 1; i >= step; --i) {
          c[i] = (c[i] - c[i - 1]) / (at[i] - at[i - step]);
        }
      }
      for (std::size_t first = kTerms - 1; first-- > 0;) {
        for (std::size_t i = first; i + 1 < kTerms; ++i) {
          c[i] -= at[first] * c[i + 1];
        }
      }
      for (std::size_t i = 0; i < kTerms; ++i) {
        all[i][place] = static_cast<float>(c[i]);
      }
    }
    return all;
  }
  static const Polynomials& polynomials() {
    static const Polynomials all = interpolate();
    return all;
  }

  __m512 low_[kTerms], high_[kTerms];
};
#else
struct GeluErf {
  static HWY_INLINE Vf of(Vf x) { return gelu_erf_of(x); }
};
#endif

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
