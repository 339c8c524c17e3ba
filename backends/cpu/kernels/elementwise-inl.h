// What add and mul share: rows of x with a row of y each, whole or repeated.

#include "backends/cpu/kernels/operands.h"
#include "backends/cpu/kernels/simd-inl.h"

#if defined(REPRISE_ELEMENTWISE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_ELEMENTWISE_INL_H
#undef REPRISE_ELEMENTWISE_INL_H
#else
#define REPRISE_ELEMENTWISE_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

struct Elementwise {
  Rows x, y;
  float* z;
};

template <class F>
void run_elementwise(const Work& work, std::int64_t first, std::int64_t end) {
  const F32 d;
  const auto& a = work.as<Elementwise>();
  const auto cols = static_cast<std::size_t>(a.x.dims[3]);
  for (std::int64_t row = first; row < end; ++row) {
    const float* x = a.x.row(row, a.x.dims);
    const float* y = a.y.row(row, a.x.dims);
    float* z = a.z + row * a.x.dims[3];
    for (std::size_t i = 0; i < cols; i += kLanes) {
      const std::size_t left = cols - i;
      store_up_to(d, F::of(load_up_to(d, x + i, left), load_up_to(d, y + i, left)), z + i, left);
    }
  }
}

template <class F>
bool plan_elementwise(const KernelCall& call, KernelPlan& plan) {
  const Elementwise arguments{.x = Rows(call.tensors[0]),
                              .y = Rows(call.tensors[1]),
                              .z = reinterpret_cast<float*>(call.tensors[2].data)};
  const auto& x = arguments.x;
  const auto& y = arguments.y;
  if (x.dims[3] != y.dims[3] || (x.dims[3] > 1 && (x.strides[3] != 1 || y.strides[3] != 1))) {
    return false;
  }
  plan.main.run = run_elementwise<F>;
  plan.main.items = call.tensors[0].shape().rows();
  plan.main.item_ns = static_cast<double>(x.dims[3]) / 4;
  plan.set_arguments(arguments);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
