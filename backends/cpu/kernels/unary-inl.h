// What kernels of one operand share: rows of x, a function of vectors.
#include "backends/cpu/kernels/operands.h"
#include "backends/cpu/kernels/simd-inl.h"

#if defined(REPRISE_UNARY_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_UNARY_INL_H
#undef REPRISE_UNARY_INL_H
#else
#define REPRISE_UNARY_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

struct Unary {
  explicit Unary(const KernelCall& call)
      : x(call.tensors[0]), y(reinterpret_cast<float*>(call.tensors[1].data)) {}
  Rows x;
  float* y;
};

/// y = f.of(x).
template <class F>
HWY_INLINE void run_unary(const Unary& a, std::int64_t first, std::int64_t end, const F& f) {
  const F32 d;
  const auto cols = static_cast<std::size_t>(a.x.dims[3]);
  for (std::int64_t row = first; row < end; ++row) {
    const float* x = a.x.row(row, a.x.dims);
    float* y = a.y + row * a.x.dims[3];
    for (std::size_t i = 0; i < cols; i += kLanes) {
      store_up_to(d, f.of(load_up_to(d, x + i, cols - i)), y + i, cols - i);
    }
  }
}

/// False if the elements of a row are no neighbours. `element_ns`: what one takes.
inline bool plan_unary(const KernelCall& call, const Unary& arguments, double element_ns,
                       KernelPlan& plan) {
  if (arguments.x.dims[3] > 1 && arguments.x.strides[3] != 1) {
    return false;
  }
  plan.main.items = call.tensors[0].shape().rows();
  plan.main.item_ns = static_cast<double>(arguments.x.dims[3]) * element_ns;
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
