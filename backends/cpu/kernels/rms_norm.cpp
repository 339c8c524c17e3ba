// rms_norm: the sum of squares and the scaling of a row, in vectors.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/rms_norm.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/operands.h"
#include "backends/cpu/kernels/rms_norm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct Norm {
  Rows x;
  float* y;
  const float* weight;  // null: 1
  Param<float> eps;
};

void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<Norm>();
  const auto cols = static_cast<std::size_t>(a.x.dims[3]);
  const float eps = work.value(a.eps);
  for (std::int64_t row = first; row < end; ++row) {
    normalise_row(a.x.row(row, a.x.dims), a.y + row * a.x.dims[3], cols, a.weight, eps);
  }
}

}  // namespace

bool plan_rms_norm(const KernelCall& call, KernelPlan& plan) {
  const Norm norm{.x = Rows(call.tensors[0]),
                  .y = reinterpret_cast<float*>(call.tensors[2].data),
                  .weight = reinterpret_cast<const float*>(call.tensors[1].data),
                  .eps = attribute<Param<float>>(call, "eps")};
  plan.main.run = run;
  plan.main.items = call.tensors[0].shape().rows();
  plan.main.item_ns = static_cast<double>(norm.x.dims[3]) / 4;
  plan.set_arguments(norm);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(rms_norm)
#endif
