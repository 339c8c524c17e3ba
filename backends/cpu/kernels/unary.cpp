// Functions of one number.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/unary.cpp"
#include <cmath>
#include <hwy/foreach_target.h>
#include <limits>

#include "backends/cpu/kernels/activations-inl.h"
#include "backends/cpu/kernels/gelu_erf-inl.h"
#include "backends/cpu/kernels/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct Exp {
  static HWY_INLINE Vf of(Vf x) { return exp_of(x); }
};

struct Neg {
  static HWY_INLINE Vf of(Vf x) { return hn::Neg(x); }
};

struct Relu {
  static HWY_INLINE Vf of(Vf x) { return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(F32())), x); }
};

struct Sqr {
  static HWY_INLINE Vf of(Vf x) { return hn::Mul(x, x); }
};

struct Sqrt {
  static HWY_INLINE Vf of(Vf x) { return hn::Sqrt(x); }
};

// Pi in parts; the products of the first two with n lose nothing up to that angle.
#if HWY_NATIVE_FMA
constexpr float kPi[] = {3.14159274F, -8.74227766e-8F, -3.43024902e-15F};
constexpr float kLargestAngle = 39000;
#else
constexpr float kPi[] = {0x1.92p1F, 0x1.fb4p-11F, 0x1.4442d2p-23F};
constexpr float kLargestAngle = 8000;
#endif

/// The sine of x - n * pi, negated if `shifted` is odd: a polynomial whose largest error is the
/// least of its degree (Remez), 6e-9. For |x| up to kLargestAngle.
HWY_INLINE Vf sine_beside(Vf x, Vf n, Vf shifted) {
  const F32 d;
  const hn::RebindToUnsigned<F32> words;
  Vf rest = x;
  for (const float part : kPi) {
    rest = hn::NegMulAdd(n, hn::Set(d, part), rest);
  }
  const Vf square = hn::Mul(rest, rest);
  const Vf p = polynomial(
      square, {2.6057058944e-6F, -1.9809570948e-4F, 8.3330658383e-3F, -1.6666659536e-1F});
  const Vf sine = hn::MulAdd(hn::Mul(rest, square), p, rest);
  const auto sign = hn::ShiftLeft<31>(hn::BitCast(words, shifted));
  return hn::BitCast(d, hn::Xor(hn::BitCast(words, sine), sign));
}
// The sums have no digits behind the point: their last bit is that of n.
constexpr float kDigits = 0x1.8p23F;
constexpr float kByPi = 0.318309886F;

HWY_INLINE Vf fast_sin(Vf x) {
  const F32 d;
  const Vf shifted = hn::MulAdd(x, hn::Set(d, kByPi), hn::Set(d, kDigits));
  const Vf sine = sine_beside(x, hn::Sub(shifted, hn::Set(d, kDigits)), shifted);
  return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, sine);  // -0 stays -0
}
/// The sine of x and a quarter turn.
HWY_INLINE Vf fast_cos(Vf x) {
  const F32 d;
  const Vf half = hn::Set(d, 0.5F);
  const Vf shifted = hn::Add(hn::MulAdd(x, hn::Set(d, kByPi), half), hn::Set(d, kDigits));
  return sine_beside(x, hn::Sub(hn::Sub(shifted, hn::Set(d, kDigits)), half), shifted);
}

/// kFast up to kLargestAngle, else element by element.
template <Vf (*kFast)(Vf), float (*kFunction)(float)>
struct OfAngle {
  static HWY_INLINE bool takes(Vf x) {
    const F32 d;
    return hn::AllTrue(d, hn::Le(hn::Abs(x), hn::Set(d, kLargestAngle)));
  }
  static HWY_INLINE Vf of(Vf x) { return kFast(x); }
  static HWY_INLINE Vf anywhere(Vf x) {
    if (takes(x)) {
      return of(x);
    }
    const F32 d;
    HWY_ALIGN float all[kLanes];
    hn::Store(x, d, all);
    for (float& v : all) {
      v = kFunction(v);
    }
    return hn::Load(d, all);
  }
};

struct Log {
  /// Of a normal number m * 2^n, m from the root of 1/2 to that of 2: a polynomial whose largest
  /// error is the least of its degree (Remez), 6e-9.
  static HWY_INLINE Vf of(Vf x) {
    const F32 d;
    const hn::RebindToSigned<F32> words;
    const auto bits = hn::BitCast(words, x);
    const auto exponent = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(words, 0x3F3504F3)));
    const auto mantissa = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(exponent)));
    const Vf n = hn::ConvertTo(d, exponent);
    const Vf r = hn::Sub(mantissa, hn::Set(d, 1.0F));
    const Vf square = hn::Mul(r, r);
    const Vf p =
        polynomial(r, {-7.6344992666e-2F, 1.2761578128e-1F, -1.3160181870e-1F, 1.4201757818e-1F,
                       -1.6623357380e-1F, 2.0001226885e-1F, -2.5000821033e-1F, 3.3333331708e-1F});
    Vf y = hn::MulAdd(hn::Mul(r, square), p, hn::Mul(n, hn::Set(d, -2.12194440e-4F)));
    y = hn::NegMulAdd(square, hn::Set(d, 0.5F), y);
    return hn::MulAdd(n, hn::Set(d, 0.693359375F), hn::Add(r, y));
  }
  static HWY_INLINE bool takes(Vf x) {
    const F32 d;
    return hn::AllTrue(d, hn::And(hn::Ge(x, hn::Set(d, kLeast)), hn::Lt(x, hn::Set(d, kInf))));
  }
  static HWY_INLINE Vf anywhere(Vf x) {
    const F32 d;
    const auto tiny = hn::Lt(x, hn::Set(d, kLeast));
    const auto positive = hn::And(hn::Gt(x, hn::Zero(d)), hn::Lt(x, hn::Set(d, kInf)));
    const Vf normal = hn::IfThenElse(tiny, hn::Mul(x, hn::Set(d, 0x1p25F)), x);
    const Vf y = hn::Sub(of(normal), hn::IfThenElseZero(tiny, hn::Set(d, 17.3286795F)));
    const Vf other = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Set(d, -kInf),
                                    hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::NaN(d)));
    return hn::IfThenElse(positive, y, other);
  }

 private:
  static constexpr float kInf = std::numeric_limits<float>::infinity();
  static constexpr float kLeast = std::numeric_limits<float>::min();
};

template <class F>
void run(const Work& work, std::int64_t first, std::int64_t end) {
  run_unary(work.as<Unary>(), first, end, F());
}

template <class F>
bool plan(const KernelCall& call, double element_ns, KernelPlan& to) {
  const Unary arguments(call);
  plan_unary(call, arguments, element_ns, to);
  to.main.run = run<F>;
  to.set_arguments(arguments);
  return true;
}

constexpr double kArithmetic = 0.25;  // ns per element: some vector instructions
constexpr double kWithExp = 0.5;

}  // namespace

bool plan_cos(const KernelCall& call, KernelPlan& to) {
  return plan<OfAngle<fast_cos, std::cos>>(call, kWithExp, to);
}
bool plan_exp(const KernelCall& call, KernelPlan& to) { return plan<Exp>(call, kWithExp, to); }
bool plan_gelu(const KernelCall& call, KernelPlan& to) { return plan<Gelu>(call, kWithExp, to); }
bool plan_gelu_erf(const KernelCall& call, KernelPlan& to) {
  return plan<GeluErf>(call, kWithExp, to);
}
bool plan_gelu_quick(const KernelCall& call, KernelPlan& to) {
  return plan<GeluQuick>(call, kWithExp, to);
}
bool plan_log(const KernelCall& call, KernelPlan& to) { return plan<Log>(call, kWithExp, to); }
bool plan_neg(const KernelCall& call, KernelPlan& to) { return plan<Neg>(call, kArithmetic, to); }
bool plan_relu(const KernelCall& call, KernelPlan& to) { return plan<Relu>(call, kArithmetic, to); }
bool plan_sigmoid(const KernelCall& call, KernelPlan& to) {
  return plan<Sigmoid>(call, kWithExp, to);
}
bool plan_silu(const KernelCall& call, KernelPlan& to) { return plan<Silu>(call, kWithExp, to); }
bool plan_sin(const KernelCall& call, KernelPlan& to) {
  return plan<OfAngle<fast_sin, std::sin>>(call, kWithExp, to);
}
bool plan_sqr(const KernelCall& call, KernelPlan& to) { return plan<Sqr>(call, kArithmetic, to); }
bool plan_sqrt(const KernelCall& call, KernelPlan& to) { return plan<Sqrt>(call, kArithmetic, to); }
bool plan_tanh(const KernelCall& call, KernelPlan& to) { return plan<Tanh>(call, kWithExp, to); }

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(cos)
REPRISE_EXPORT_KERNEL(exp)
REPRISE_EXPORT_KERNEL(gelu)
REPRISE_EXPORT_KERNEL(gelu_erf)
REPRISE_EXPORT_KERNEL(gelu_quick)
REPRISE_EXPORT_KERNEL(log)
REPRISE_EXPORT_KERNEL(neg)
REPRISE_EXPORT_KERNEL(relu)
REPRISE_EXPORT_KERNEL(sigmoid)
REPRISE_EXPORT_KERNEL(silu)
REPRISE_EXPORT_KERNEL(sin)
REPRISE_EXPORT_KERNEL(sqr)
REPRISE_EXPORT_KERNEL(sqrt)
REPRISE_EXPORT_KERNEL(tanh)
#endif
