// clamp, scale, softcap: functions of one number and of parameters.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/scalar.cpp"
#include <cmath>
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/activations-inl.h"
#include "backends/cpu/kernels/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct Scalar {
  Unary unary;
  std::array<Param<float>, 2> parameters;
};

/// Comparisons with NaN are false: it stays.
struct Clamp {
  Clamp(float low, float high) : min(hn::Set(F32(), low)), max(hn::Set(F32(), high)) {}
  HWY_INLINE Vf of(Vf x) const {
    const Vf above = hn::IfThenElse(hn::Lt(x, min), min, x);
    return hn::IfThenElse(hn::Gt(above, max), max, above);
  }
  Vf min, max;
};

struct Scale {
  Scale(float by, float plus) : scale(hn::Set(F32(), by)), bias(hn::Set(F32(), plus)) {}
  HWY_INLINE Vf of(Vf x) const { return hn::MulAdd(x, scale, bias); }
  Vf scale, bias;
};

struct Softcap {
  Softcap(float value, float /*none*/)
      : is_cap(std::isnormal(value) && value > 0), cap(hn::Set(F32(), value)) {}
  HWY_INLINE Vf of(Vf x) const { return is_cap ? hn::Mul(cap, Tanh::of(hn::Div(x, cap))) : x; }
  bool is_cap;
  Vf cap;
};

template <class F>
void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<Scalar>();
  run_unary(a.unary, first, end, F(work.value(a.parameters[0]), work.value(a.parameters[1])));
}

template <class F>
bool plan(const KernelCall& call, Param<float> first, Param<float> second, KernelPlan& to) {
  const Scalar arguments{Unary(call), {first, second}};
  constexpr double kElementNs = 0.5;
  plan_unary(call, arguments.unary, kElementNs, to);
  to.main.run = run<F>;
  to.set_arguments(arguments);
  return true;
}

}  // namespace

bool plan_clamp(const KernelCall& call, KernelPlan& to) {
  return plan<Clamp>(call, attribute<Param<float>>(call, "min"),
                     attribute<Param<float>>(call, "max"), to);
}
bool plan_scale(const KernelCall& call, KernelPlan& to) {
  return plan<Scale>(call, attribute<Param<float>>(call, "scale"),
                     attribute<Param<float>>(call, "bias"), to);
}
bool plan_softcap(const KernelCall& call, KernelPlan& to) {
  return plan<Softcap>(call, attribute<Param<float>>(call, "cap"), {}, to);
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(clamp)
REPRISE_EXPORT_KERNEL(scale)
REPRISE_EXPORT_KERNEL(softcap)
#endif
