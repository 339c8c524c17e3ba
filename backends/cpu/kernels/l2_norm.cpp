// l2_norm: the length of a row and its scaling.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/l2_norm.cpp"
#include <cmath>
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/operands.h"
#include "backends/cpu/kernels/row_fold-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct L2Norm {
  Rows x;
  float* y;
  Param<float> eps;
};

void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<L2Norm>();
  const F32 d;
  const auto cols = static_cast<std::size_t>(a.x.dims[3]);
  const float eps = work.value(a.eps);
  for (std::int64_t row = first; row < end; ++row) {
    const float* x = a.x.row(row, a.x.dims);
    const auto element = [&](std::size_t i, std::size_t left)
                             REPRISE_INLINED { return load_up_to(d, x + i, left); };
    const float length = std::sqrt(fold<FoldSquares>(cols, element));
    const Vf scale = hn::Set(d, 1.0F / (length < eps ? eps : length));
    write_row(a.y + row * a.x.dims[3], cols, [&](std::size_t i, std::size_t left) REPRISE_INLINED {
      return hn::Mul(element(i, left), scale);
    });
  }
}

}  // namespace

bool plan_l2_norm(const KernelCall& call, KernelPlan& plan) {
  const L2Norm norm{.x = Rows(call.tensors[0]),
                    .y = reinterpret_cast<float*>(call.tensors[1].data),
                    .eps = attribute<Param<float>>(call, "eps")};
  plan.main = {.run = run,
               .items = call.tensors[0].shape().rows(),
               .item_ns = 10 + static_cast<double>(norm.x.dims[3]) / 4};
  plan.set_arguments(norm);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(l2_norm)
#endif
