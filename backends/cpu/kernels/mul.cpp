// mul: elementwise.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/mul.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

struct Mul {
  static HWY_INLINE Vf of(Vf x, Vf y) { return hn::Mul(x, y); }
};

bool plan_mul(const KernelCall& call, KernelPlan& plan) {
  return plan_elementwise<Mul>(call, plan);
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(mul)
#endif
