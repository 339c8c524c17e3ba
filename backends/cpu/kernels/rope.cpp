// rope: rows of f32 that are rotated on their own, by one position each.
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
  constexpr std::string_view kSections[] = {"section_0", "section_1", "section_2", "section_3"};
  if (call.tensors[0].dtype() != DType::f32 ||
      std::ranges::any_of(kSections, [&](std::string_view section) {
        return attribute<std::int32_t>(call, section) != 0;
      })) {
    return false;
  }
  RopeToRows arguments{rope_of(call, 0), reinterpret_cast<float*>(call.tensors[3].data)};
  arguments.rope.extrapolation = attribute<Param<float>>(call, "extrapolation");
  arguments.rope.ramp_first = attribute<Param<std::int32_t>>(call, "ramp_first");
  arguments.rope.ramp_last = attribute<Param<std::int32_t>>(call, "ramp_last");
  arguments.rope.magnitude = attribute<Param<float>>(call, "magnitude");
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
