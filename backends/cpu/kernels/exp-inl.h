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

/// Highway's Exp() alone is for finite results, and makes 0 of NaN.
HWY_INLINE Vf exp_of(Vf x) {
  const F32 d;
  const Vf max = hn::Set(d, 88.72283F);  // the last one of a finite exp()
  const Vf infinite = hn::Set(d, std::numeric_limits<float>::infinity());
  const Vf y = hn::IfThenElse(hn::Gt(x, max), infinite, hn::Exp(d, hn::Min(x, max)));
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
