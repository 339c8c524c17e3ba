// What kernels of one operand share: rows of x, a function of vectors.
#include "backends/cpu/kernels/operands.h"
#include "backends/cpu/kernels/row_pieces.h"
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
  for (std::int64_t row = first; row < end; ++row) {
    float* const to = a.y + row * a.x.dims[3];
    for_each_piece(a.x.row(row, a.x.dims), a.x.strides[3], a.x.dims[3],
                   [&](const float* x, std::int64_t at, std::int64_t cols) HWY_ATTR {
                     const auto count = static_cast<std::size_t>(cols);
                     float* const y = to + at;
                     for (std::size_t i = 0; i < count; i += kLanes) {
                       const std::size_t left = count - i;
                       store_up_to(d, f.of(load_up_to(d, x + i, left)), y + i, left);
                     }
                   });
  }
}

/// `element_ns`: what one takes.
inline void plan_unary(const KernelCall& call, const Unary& arguments, double element_ns,
                       KernelPlan& plan) {
  plan.main.items = call.tensors[0].shape().rows();
  plan.main.item_ns = static_cast<double>(arguments.x.dims[3]) * element_ns;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
