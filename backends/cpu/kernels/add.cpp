// add: elementwise.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/add.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

struct Add {
  static HWY_INLINE Vf of(Vf x, Vf y) { return hn::Add(x, y); }
};

bool plan_add(const KernelCall& call, KernelPlan& plan) {
  return plan_elementwise<Add>(call, plan);
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(add)
#endif
