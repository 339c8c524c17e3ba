// exp() of f32 vectors, good to a rounding: NaN stays NaN, above 88.72 it is inf, below -104 it is
// 0.
#include "backends/cpu/kernels/simd-inl.h"

#if defined(REPRISE_EXP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_EXP_INL_H
#undef REPRISE_EXP_INL_H
#else
#define REPRISE_EXP_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

/// exp(x) is `mantissa` times 2^n: a polynomial whose largest error is the least of its degree
/// (Remez), 3e-9. For x from -104 to 89.
struct ExpParts {
  explicit HWY_INLINE ExpParts(Vf x) {
    const F32 d;
    // The sum has no digits behind the point: this rounds with one instruction less than Round().
    const Vf digits = hn::Set(d, 0x1.8p23F);
    shifted = hn::MulAdd(x, hn::Set(d, 1.44269504F), digits);
    n = hn::Sub(shifted, digits);
    Vf rest = hn::NegMulAdd(n, hn::Set(d, 0.693359375F), x);
    rest = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4F), rest);
    mantissa = hn::Set(d, 1.3814572510e-3F);
    for (const float c :
         {8.3687294519e-3F, 4.1668389267e-2F, 1.6666520528e-1F, 4.9999993441e-1F, 1.0F, 1.0F}) {
      mantissa = hn::MulAdd(mantissa, rest, hn::Set(d, c));
    }
  }
  Vf mantissa, n;
  Vf shifted;  // n is also its last bits
};

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/// exp() of at most 89. The instruction that scales by 2^n rounds to denormals, 0 and infinity
/// itself.
HWY_INLINE Vf exp_up_to_89(Vf x) {
  const ExpParts exp(x);
  // Results that are too small for it cost many times as much: hidden keys have them.
  const __mmask16 counts = _mm512_cmp_ps_mask(x.raw, _mm512_set1_ps(-104.0F), _CMP_NLT_UQ);
  return Vf{_mm512_maskz_scalef_ps(counts, exp.mantissa.raw, exp.n.raw)};
}
HWY_INLINE Vf exp_of(Vf x) {
  // Of two operands of which one is NaN this returns the second: x.
  return exp_up_to_89(Vf{_mm512_min_ps(_mm512_set1_ps(89.0F), x.raw)});
}
#else
HWY_INLINE Vf exp_of(Vf x) {
  const F32 d;
  const hn::RebindToSigned<F32> words;
  if (hn::AllTrue(d, hn::Lt(hn::Abs(x), hn::Set(d, 87.0F)))) {
    const ExpParts exp(x);
    const auto exponent = hn::ShiftLeft<23>(hn::BitCast(words, exp.shifted));
    return hn::BitCast(d, hn::Add(hn::BitCast(words, exp.mantissa), exponent));
  }
  // Twice by the root of 2^n, which need not be a number that f32 has: the second product rounds to
  // denormals, 0 and infinity.
  const ExpParts exp(hn::Max(hn::Min(x, hn::Set(d, 89.0F)), hn::Set(d, -104.0F)));
  const auto n = hn::ConvertTo(words, exp.n);
  const auto half = hn::ShiftRight<1>(n);
  const auto power = [&](auto of) HWY_ATTR {
    return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(of, hn::Set(words, 127))));
  };
  const Vf y = hn::Mul(hn::Mul(exp.mantissa, power(half)), power(hn::Sub(n, half)));
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}
HWY_INLINE Vf exp_up_to_89(Vf x) { return exp_of(x); }
#endif

/// 2^u, good to a rounding, for u from -126 to 126.
HWY_INLINE Vf power_of_two(Vf u) {
  const F32 d;
  const Vf digits = hn::Set(d, 0x1.8p23F);
  const Vf shifted = hn::Add(u, digits);
  const Vf n = hn::Sub(shifted, digits);
  const Vf rest = hn::Sub(u, n);
  // As in ExpParts.
  Vf mantissa = hn::Set(d, 1.5321109502e-4F);
  for (const float c : {1.3390192891e-3F, 9.6185267442e-3F, 5.5503621987e-2F, 2.4022647545e-1F,
                        6.9314718056e-1F, 1.0F}) {
    mantissa = hn::MulAdd(mantissa, rest, hn::Set(d, c));
  }
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  return Vf{_mm512_scalef_ps(mantissa.raw, n.raw)};
#else
  const hn::RebindToSigned<F32> words;
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(words, shifted));
  return hn::BitCast(d, hn::Add(hn::BitCast(words, mantissa), exponent));
#endif
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
