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

bool plan_mul(const KernelCall& call, Launch& launch) {
  return plan_elementwise<Mul>(call, launch);
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace reprise::cpu {
HWY_EXPORT(plan_mul);
bool plan_mul(const KernelCall& call, Launch& launch) {
  return HWY_DYNAMIC_DISPATCH(plan_mul)(call, launch);
}
}  // namespace reprise::cpu
#endif
