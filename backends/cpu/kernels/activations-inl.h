// Activations of f32 vectors, good to a few ulp. NaN stays NaN.
#include <initializer_list>
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

/// x / y for a y of at least 1, which may be infinite unless kFinite.
template <bool kFinite = false>
HWY_INLINE Vf quotient(Vf x, Vf y) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  // A division takes 16 cycles on Intel; this takes 4, and is good to a rounding or two.
  const __m512 about = _mm512_rcp14_ps(y.raw);
  // 0 times infinity would be NaN. Of two operands of which one is NaN min() returns the second.
  const __m512 finite =
      kFinite ? y.raw : _mm512_min_ps(_mm512_set1_ps(std::numeric_limits<float>::max()), y.raw);
  const __m512 error = _mm512_fnmadd_ps(finite, about, _mm512_set1_ps(1.0F));
  return hn::Mul(x, Vf{_mm512_fmadd_ps(about, error, about)});
#else
  return hn::Div(x, y);
#endif
}

/// The polynomial of x with these coefficients, the highest degree first.
HWY_INLINE Vf polynomial(Vf x, std::initializer_list<float> coefficients) {
  const F32 d;
  Vf p = hn::Set(d, *coefficients.begin());
  for (const float* c = coefficients.begin() + 1; c != coefficients.end(); ++c) {
    p = hn::MulAdd(p, x, hn::Set(d, *c));
  }
  return p;
}

/// x / (1 + exp(u)): x times the sigmoid of -u.
HWY_INLINE Vf gated_by(Vf x, Vf u) { return quotient(x, hn::Add(hn::Set(F32(), 1.0F), exp_of(u))); }

struct Sigmoid {
  static HWY_INLINE Vf of(Vf x) { return gated_by(hn::Set(F32(), 1.0F), hn::Neg(x)); }
};

struct Silu {
  static HWY_INLINE Vf of(Vf x) { return gated_by(x, hn::Neg(x)); }
};

/// x / (1 + 2^u), for a u that is rounded: exp() of one that is not takes more. Factors of u are
/// those of exp by ln 2.
HWY_INLINE Vf gated_by_power(Vf x, Vf u) {
  const F32 d;
  const Vf one = hn::Set(d, 1.0F), end = hn::Set(d, 126.0F);
  // Powers that are too small for it cost many times as much, or are no numbers.
  const Vf power = power_of_two(hn::Max(hn::Neg(end), u));
  const Vf gate = quotient<true>(one, hn::Add(one, power));
  // Minus infinity times 0 is NaN.
  return hn::Mul(x, hn::IfThenElseZero(hn::Lt(u, end), gate));
}

/// (1 + tanh(u)) / 2 is the sigmoid of 2u, which loses nothing where tanh is nearly -1.
struct Gelu {
  static HWY_INLINE Vf of(Vf x) {
    const F32 d;
    const Vf cubic =
        hn::NegMulAdd(hn::Set(d, 0.102943240F), hn::Mul(x, x), hn::Set(d, -2.30220820F));
    return gated_by_power(x, hn::Mul(x, cubic));
  }
};

struct GeluQuick {
  static HWY_INLINE Vf of(Vf x) {
    return gated_by_power(x, hn::Mul(hn::Set(F32(), -2.45546696F), x));
  }
};

/// x times a quotient of polynomials of x * x, whose largest relative error is the least of their
/// degrees up to 9.02, where tanh rounds to 1: 2.1e-8.
struct Tanh {
  static HWY_INLINE Vf of(Vf x) {
    const F32 d;
    const auto within = [&](float limit, Vf v) REPRISE_INLINED {
      return hn::Max(hn::Set(d, -limit), hn::Min(hn::Set(d, limit), v));
    };
    const Vf near = within(9.02F, x);
    const Vf square = hn::Mul(near, near);
    const Vf above =
        polynomial(square, {1.33190428e-8F, 2.05834567e-5F, 3.49403312e-3F, 1.33797169e-1F, 1.0F});
    const Vf below =
        polynomial(square, {7.76200409e-7F, 3.28308961e-4F, 2.58710738e-2F, 4.67130274e-1F, 1.0F});
    const Vf y = within(1.0F, quotient<true>(hn::Mul(near, above), below));
    // On x86 NaN went through: of two operands it is the second.
    return HWY_ARCH_X86 ? y : hn::IfThenElse(hn::IsNaN(x), x, y);
  }
};

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
