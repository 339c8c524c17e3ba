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

/// A function with a part: takes(x) tells whether a vector is in it, of(x) is its value there, and
/// anywhere(x) everywhere. Loops over parts call nothing, and so keep their constants in registers.
template <class F>
concept HasPart = requires(const F& f, Vf x) {
  f.takes(x);
};

/// How far ahead elements are asked for: without that memory and arithmetic wait for each other,
/// as a core has no room for the instructions of the vectors behind.
constexpr std::size_t kAhead = 256;

/// y = f.of(x).
template <class F>
HWY_INLINE void run_vectors(const float* x, float* y, std::size_t count, const F& f) {
  const F32 d;
  const auto anywhere = [&](Vf v) REPRISE_INLINED {
    if constexpr (HasPart<F>) {
      return f.anywhere(v);
    } else {
      return f.of(v);
    }
  };
  for (std::size_t i = 0; i < count; i += kLanes) {
    for (; i + kLanes <= count; i += kLanes) {
      __builtin_prefetch(x + i + kAhead);
      const Vf v = hn::LoadU(d, x + i);
      if constexpr (HasPart<F>) {
        if (HWY_UNLIKELY(!f.takes(v))) {
          break;
        }
      }
      hn::StoreU(f.of(v), d, y + i);
    }
    if (i < count) {
      store_up_to(d, anywhere(load_up_to(d, x + i, count - i)), y + i, count - i);
    }
  }
}

template <class F>
HWY_INLINE void run_unary(const Unary& a, std::int64_t first, std::int64_t end, const F& f) {
  for (std::int64_t row = first; row < end; ++row) {
    float* const y = a.y + row * a.x.dims[3];
    for_each_piece(a.x.row(row, a.x.dims), a.x.strides[3], a.x.dims[3],
                   [&](const float* x, std::int64_t at, std::int64_t cols)
                       HWY_ATTR { run_vectors(x, y + at, static_cast<std::size_t>(cols), f); });
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
