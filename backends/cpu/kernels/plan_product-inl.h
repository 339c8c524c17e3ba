// How one product runs, for ops that compute several.
#include "backends/cpu/kernels/product.h"
#include "backends/cpu/kernels/simd-inl.h"

#if defined(REPRISE_PLAN_PRODUCT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_PLAN_PRODUCT_INL_H
#undef REPRISE_PLAN_PRODUCT_INL_H
#else
#define REPRISE_PLAN_PRODUCT_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

/// Fills `plan`, whose argument is the product, and returns true if weights of the type have a
/// kernel. In matmul.cpp.
bool plan_product(const Product& p, DType weights, Precision precision, KernelPlan& plan);

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
