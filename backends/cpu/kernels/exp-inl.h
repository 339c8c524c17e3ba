// exp() of f32 vectors, good to a rounding: NaN stays NaN, above 88.72 it is inf, below -104 it is
// 0.
#include <limits>

#include "backends/cpu/kernels/simd-inl.h"

// Guards itself; after Highway's own headers.
#include <hwy/contrib/math/math-inl.h>

#if defined(REPRISE_EXP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_EXP_INL_H
#undef REPRISE_EXP_INL_H
#else
#define REPRISE_EXP_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/// exp() of at most 89: 2^n times a polynomial, whose largest error is the least of its degree
/// (Remez), 3e-9. The instruction that scales by 2^n rounds to denormals, 0 and infinity itself.
HWY_INLINE Vf exp_up_to_89(Vf x) {
  const F32 d;
  // The sum has no digits behind the point: this rounds with one instruction less than Round().
  const Vf digits = hn::Set(d, 0x1.8p23F);
  const Vf n = hn::Sub(hn::MulAdd(x, hn::Set(d, 1.44269504F), digits), digits);
  Vf rest = hn::NegMulAdd(n, hn::Set(d, 0.693359375F), x);
  rest = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4F), rest);
  Vf p = hn::Set(d, 1.3814572510e-3F);
  for (const float c :
       {8.3687294519e-3F, 4.1668389267e-2F, 1.6666520528e-1F, 4.9999993441e-1F, 1.0F, 1.0F}) {
    p = hn::MulAdd(p, rest, hn::Set(d, c));
  }
  // Results that are too small for it cost many times as much: hidden keys have them.
  const __mmask16 counts = _mm512_cmp_ps_mask(x.raw, _mm512_set1_ps(-104.0F), _CMP_NLT_UQ);
  return Vf{_mm512_maskz_scalef_ps(counts, p.raw, n.raw)};
}
HWY_INLINE Vf exp_of(Vf x) {
  // Of two operands of which one is NaN this returns the second: x.
  return exp_up_to_89(Vf{_mm512_min_ps(_mm512_set1_ps(89.0F), x.raw)});
}
#else
/// Highway's Exp() alone is for finite results, and makes 0 of NaN.
HWY_INLINE Vf exp_of(Vf x) {
  const F32 d;
  const Vf max = hn::Set(d, 88.72283F);  // the last one of a finite exp()
  const Vf infinite = hn::Set(d, std::numeric_limits<float>::infinity());
  const Vf y = hn::IfThenElse(hn::Gt(x, max), infinite, hn::Exp(d, hn::Min(x, max)));
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}
HWY_INLINE Vf exp_up_to_89(Vf x) { return exp_of(x); }
#endif

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
