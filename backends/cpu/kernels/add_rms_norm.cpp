// add_rms_norm: the sum of a row, then its normalisation while the row is in the cache.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/add_rms_norm.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/operands.h"
#include "backends/cpu/kernels/rms_norm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct AddNorm {
  Rows x, y;
  float* z;  // may lie where x is
  float* n;
  const float* weight;  // null: 1
  Param<float> eps;
};

void run(const Work& work, std::int64_t first, std::int64_t end) {
  const F32 d;
  const auto& a = work.as<AddNorm>();
  const auto cols = static_cast<std::size_t>(a.x.dims[3]);
  const float eps = work.value(a.eps);
  for (std::int64_t row = first; row < end; ++row) {
    const float* x = a.x.row(row, a.x.dims);
    const float* y = a.y.row(row, a.x.dims);
    float* z = a.z + row * a.x.dims[3];
    for (std::size_t i = 0; i < cols; i += kLanes) {
      const std::size_t left = cols - i;
      store_up_to(d, hn::Add(load_up_to(d, x + i, left), load_up_to(d, y + i, left)), z + i, left);
    }
    normalise_row(z, a.n + row * a.x.dims[3], cols, a.weight, eps);
  }
}

}  // namespace

bool plan_add_rms_norm(const KernelCall& call, KernelPlan& plan) {
  const AddNorm arguments{.x = Rows(call.tensors[0]),
                          .y = Rows(call.tensors[1]),
                          .z = reinterpret_cast<float*>(call.tensors[3].data),
                          .n = reinterpret_cast<float*>(call.tensors[4].data),
                          .weight = reinterpret_cast<const float*>(call.tensors[2].data),
                          .eps = attribute<Param<float>>(call, "eps")};
  plan.main.run = run;
  plan.main.items = call.tensors[0].shape().rows();
  plan.main.item_ns = static_cast<double>(arguments.x.dims[3]) / 2;
  plan.set_arguments(arguments);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(add_rms_norm)
#endif
