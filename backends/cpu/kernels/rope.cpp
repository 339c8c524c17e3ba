// rope: rows that are rotated on their own.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/rope.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/rope-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct RopeToRows {
  Rope rope;
  float* y;
};

void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<RopeToRows>();
  const RowRotation rotation(work, a.rope);
  for (std::int64_t row = first; row < end; ++row) {
    rotation.rotate_row(row, a.y + row * a.rope.heads * a.rope.cols);
  }
}

}  // namespace

bool plan_rope(const KernelCall& call, KernelPlan& plan) {
  const RopeToRows arguments{rope_of(call, 0), reinterpret_cast<float*>(call.tensors[3].data)};
  plan.main.run = run;
  plan.main.items = call.tensors[0].shape().dim(0);
  plan.main.item_ns = RowRotation::row_ns(arguments.rope);
  plan.own_bytes = RowRotation::own_bytes(arguments.rope);
  plan.set_arguments(arguments);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(rope)
#endif
