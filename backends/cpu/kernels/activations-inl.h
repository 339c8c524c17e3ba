// Activations of f32 vectors, good to a few ulp. NaN stays NaN.
#include <limits>

#include "backends/cpu/kernels/exp-inl.h"

#if defined(REPRISE_ACTIVATIONS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_ACTIVATIONS_INL_H
#undef REPRISE_ACTIVATIONS_INL_H
#else
#define REPRISE_ACTIVATIONS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

/// x / y for a y of at least 1, which may be infinite.
HWY_INLINE Vf quotient(Vf x, Vf y) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  // A division takes 16 cycles on Intel; this takes 4, and is good to a rounding or two.
  const __m512 about = _mm512_rcp14_ps(y.raw);
  // 0 times infinity would be NaN. Of two operands of which one is NaN min() returns the second.
  const __m512 finite = _mm512_min_ps(_mm512_set1_ps(std::numeric_limits<float>::max()), y.raw);
  const __m512 error = _mm512_fnmadd_ps(finite, about, _mm512_set1_ps(1.0F));
  return hn::Mul(x, Vf{_mm512_fmadd_ps(about, error, about)});
#else
  return hn::Div(x, y);
#endif
}

/// x / (1 + exp(u)): x times the sigmoid of -u.
HWY_INLINE Vf gated_by(Vf x, Vf u) { return quotient(x, hn::Add(hn::Set(F32(), 1.0F), exp_of(u))); }

struct Sigmoid {
  static HWY_INLINE Vf of(Vf x) { return gated_by(hn::Set(F32(), 1.0F), hn::Neg(x)); }
};

struct Silu {
  static HWY_INLINE Vf of(Vf x) { return gated_by(x, hn::Neg(x)); }
};

/// (1 + tanh(u)) / 2 is the sigmoid of 2u, which loses nothing where tanh is nearly -1.
struct Gelu {
  static HWY_INLINE Vf of(Vf x) {
    const F32 d;
    const Vf cubic =
        hn::NegMulAdd(hn::Set(d, 0.0713548163F), hn::Mul(x, x), hn::Set(d, -1.59576912F));
    return gated_by(x, hn::Mul(x, cubic));
  }
};

/// After Cephes' tanhf(): a polynomial near 0, where 1 - exp(-2x) has few digits.
struct Tanh {
  static HWY_INLINE Vf of(Vf x) {
    const F32 d;
    const Vf one = hn::Set(d, 1.0F);
    const Vf size = hn::Abs(x);
    const Vf square = hn::Mul(x, x);
    Vf p = hn::Set(d, -5.70498872745e-3F);
    for (const float c :
         {2.06390887954e-2F, -5.37397155531e-2F, 1.33314422036e-1F, -3.33332819422e-1F}) {
      p = hn::MulAdd(p, square, hn::Set(d, c));
    }
    const Vf near = hn::MulAdd(hn::Mul(size, square), p, size);
    const Vf e = exp_up_to_89(hn::Mul(size, hn::Set(d, -2.0F)));
    const Vf far = hn::Div(hn::Sub(one, e), hn::Add(one, e));
    return hn::CopySignToAbs(hn::IfThenElse(hn::Lt(size, hn::Set(d, 0.625F)), near, far), x);
  }
};

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
