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

/// Highway's Tanh() alone is for numbers.
struct Tanh {
  static HWY_INLINE Vf of(Vf x) {
    const F32 d;
    const Vf bound = hn::Set(d, 20.0F);  // 1 from 9.02 on
    const Vf y = hn::Tanh(d, hn::Max(hn::Min(x, bound), hn::Neg(bound)));
    return hn::IfThenElse(hn::IsNaN(x), x, y);
  }
};

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
