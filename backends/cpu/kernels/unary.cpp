// Functions of one number.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/unary.cpp"
#include <cmath>
#include <hwy/foreach_target.h>
#include <limits>

#include "backends/cpu/kernels/activations-inl.h"
#include "backends/cpu/kernels/unary-inl.h"

// Guards itself; after Highway's own headers.
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct Exp {
  static HWY_INLINE Vf of(Vf x) { return exp_of(x); }
};

/// x times the distribution function of the normal distribution: 1 - q, or q where x is negative.
/// 2q is erfc(|x| / sqrt(2)), as in shaders/include/erfc.glsl.
struct GeluErf {
  static HWY_INLINE Vf of(Vf x) {
    const F32 d;
    const Vf one = hn::Set(d, 1.0F);
    const Vf z = hn::Mul(hn::Abs(x), hn::Set(d, 0.707106781F));
    const Vf t = hn::Div(one, hn::MulAdd(hn::Set(d, 0.37F), z, one));
    constexpr float kCoefficients[] = {-0.303940712F, 0.488227331F, -0.286907224F, 0.31191463F,
                                       0.106040016F,  0.206379147F, 0.207411884F,  0.20881483F};
    Vf p = hn::Set(d, 0.0620600844F / 2);
    for (const float c : kCoefficients) {
      p = hn::MulAdd(p, t, hn::Set(d, c / 2));
    }
    const Vf q = hn::Mul(hn::Mul(p, t), exp_up_to_89(hn::NegMulAdd(z, z, hn::Zero(d))));
    return hn::Mul(x, hn::IfThenElse(hn::Lt(x, hn::Zero(d)), q, hn::Sub(one, q)));
  }
};

struct GeluQuick {
  static HWY_INLINE Vf of(Vf x) { return gated_by(x, hn::Mul(hn::Set(F32(), -1.702F), x)); }
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

/// The function of Highway where it finds the multiple of pi exactly, else element by element.
template <Vf (*kFast)(Vf), float (*kFunction)(float)>
struct OfAngle {
  static HWY_INLINE Vf of(Vf x) {
    const F32 d;
    if (hn::AllTrue(d, hn::Le(hn::Abs(x), hn::Set(d, 39000.0F)))) {
      return kFast(x);
    }
    HWY_ALIGN float all[kLanes];
    hn::Store(x, d, all);
    for (float& v : all) {
      v = kFunction(v);
    }
    return hn::Load(d, all);
  }
};
HWY_INLINE Vf fast_cos(Vf x) { return hn::Cos(F32(), x); }
HWY_INLINE Vf fast_sin(Vf x) { return hn::Sin(F32(), x); }

/// Highway's is for normal numbers alone.
struct Log {
  static HWY_INLINE Vf of(Vf x) {
    const F32 d;
    constexpr float kInf = std::numeric_limits<float>::infinity();
    const auto tiny = hn::Lt(x, hn::Set(d, std::numeric_limits<float>::min()));
    const auto positive = hn::And(hn::Gt(x, hn::Zero(d)), hn::Lt(x, hn::Set(d, kInf)));
    if (hn::AllTrue(d, hn::AndNot(tiny, positive))) {
      return hn::Log(d, x);
    }
    const Vf normal = hn::IfThenElse(tiny, hn::Mul(x, hn::Set(d, 0x1p25F)), x);
    const Vf y = hn::Sub(hn::Log(d, normal), hn::IfThenElseZero(tiny, hn::Set(d, 17.3286795F)));
    const Vf other = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Set(d, -kInf),
                                    hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::NaN(d)));
    return hn::IfThenElse(positive, y, other);
  }
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
