// add, div, mul, sub: rows of x with a row of y each, whole or repeated along it, a number in the
// end.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/binary.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/operands.h"
#include "backends/cpu/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct Binary {
  Rows x, y;
  float* z;
};

bool neighbours(const Rows& rows) { return rows.dims[3] == 1 || rows.strides[3] == 1; }

/// A row whose elements are neighbours: where it is, or brought together in `memory`, which is
/// moved behind it.
const float* together(const Rows& rows, const float* row, float*& memory) {
  if (neighbours(rows)) {
    return row;
  }
  float* const to = memory;
  memory += rows.dims[3];
  for (std::int64_t i = 0; i < rows.dims[3]; ++i) {
    to[i] = row[i * rows.strides[3]];
  }
  return to;
}
std::uint64_t together_bytes(const Rows& rows) {
  return neighbours(rows) ? 0 : static_cast<std::uint64_t>(rows.dims[3]) * sizeof(float);
}

template <class F>
void run(const Work& work, std::int64_t first, std::int64_t end) {
  const F32 d;
  const auto& a = work.as<Binary>();
  const auto cols = static_cast<std::size_t>(a.x.dims[3]);
  const auto period = static_cast<std::size_t>(a.y.dims[3]);
  for (std::int64_t row = first; row < end; ++row) {
    auto* memory = reinterpret_cast<float*>(work.own);
    const float* x = together(a.x, a.x.row(row, a.x.dims), memory);
    const float* y = together(a.y, a.y.row(row, a.x.dims), memory);
    float* z = a.z + row * a.x.dims[3];
    if (period == 1) {
      const Vf number = hn::Set(d, *y);
      for (std::size_t i = 0; i < cols; i += kLanes) {
        store_up_to(d, F::of(load_up_to(d, x + i, cols - i), number), z + i, cols - i);
      }
      continue;
    }
    for (std::size_t part = 0; part < cols; part += period) {
      for (std::size_t i = 0; i < period; i += kLanes) {
        const std::size_t at = part + i, left = period - i;
        store_up_to(d, F::of(load_up_to(d, x + at, left), load_up_to(d, y + i, left)), z + at,
                    left);
      }
    }
  }
}

template <class F>
bool plan(const KernelCall& call, KernelPlan& to) {
  const Binary arguments{.x = Rows(call.tensors[0]),
                         .y = Rows(call.tensors[1]),
                         .z = reinterpret_cast<float*>(call.tensors[2].data)};
  to.main.run = run<F>;
  to.main.items = call.tensors[0].shape().rows();
  to.main.item_ns = static_cast<double>(arguments.x.dims[3]) / 4;
  to.own_bytes = together_bytes(arguments.x) + together_bytes(arguments.y);
  to.set_arguments(arguments);
  return true;
}

struct Add {
  static HWY_INLINE Vf of(Vf x, Vf y) { return hn::Add(x, y); }
};
struct Div {
  static HWY_INLINE Vf of(Vf x, Vf y) { return hn::Div(x, y); }
};
struct Mul {
  static HWY_INLINE Vf of(Vf x, Vf y) { return hn::Mul(x, y); }
};
struct Sub {
  static HWY_INLINE Vf of(Vf x, Vf y) { return hn::Sub(x, y); }
};

}  // namespace

bool plan_add(const KernelCall& call, KernelPlan& to) { return plan<Add>(call, to); }
bool plan_div(const KernelCall& call, KernelPlan& to) { return plan<Div>(call, to); }
bool plan_mul(const KernelCall& call, KernelPlan& to) { return plan<Mul>(call, to); }
bool plan_sub(const KernelCall& call, KernelPlan& to) { return plan<Sub>(call, to); }

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(add)
REPRISE_EXPORT_KERNEL(div)
REPRISE_EXPORT_KERNEL(mul)
REPRISE_EXPORT_KERNEL(sub)
#endif
