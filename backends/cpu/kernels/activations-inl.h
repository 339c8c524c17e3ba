// Activations of f32 vectors, good to a few ulp. NaN stays NaN.
#include "backends/cpu/kernels/exp-inl.h"

#if defined(REPRISE_ACTIVATIONS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_ACTIVATIONS_INL_H
#undef REPRISE_ACTIVATIONS_INL_H
#else
#define REPRISE_ACTIVATIONS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

/// x / (1 + exp(-u)): x times the sigmoid of u.
HWY_INLINE Vf gated_by(Vf x, Vf u) {
  return hn::Div(x, hn::Add(hn::Set(F32(), 1.0F), exp_of(hn::Neg(u))));
}

struct Sigmoid {
  static HWY_INLINE Vf of(Vf x) { return gated_by(hn::Set(F32(), 1.0F), x); }
};

struct Silu {
  static HWY_INLINE Vf of(Vf x) { return gated_by(x, x); }
};

/// (1 + tanh(u)) / 2 is the sigmoid of 2u, which loses nothing where tanh is nearly -1.
struct Gelu {
  static HWY_INLINE Vf of(Vf x) {
    const F32 d;
    const Vf cubic = hn::MulAdd(hn::Set(d, 0.0713548163F), hn::Mul(x, x), hn::Set(d, 1.59576912F));
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
    const Vf e = exp_of(hn::Mul(size, hn::Set(d, -2.0F)));
    const Vf far = hn::Div(hn::Sub(one, e), hn::Add(one, e));
    return hn::CopySignToAbs(hn::IfThenElse(hn::Lt(size, hn::Set(d, 0.625F)), near, far), x);
  }
};

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
