// argmax: the largest value in vectors, then its first place.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/argmax.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/operands.h"
#include "backends/cpu/kernels/row_fold-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct Argmax {
  Rows x;
  std::int32_t* y;
};

void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<Argmax>();
  const auto cols = static_cast<std::size_t>(a.x.dims[3]);
  for (std::int64_t row = first; row < end; ++row) {
    const float* x = a.x.row(row, a.x.dims);
    const float max = fold<FoldMax>(cols, [&](std::size_t i, std::size_t left) REPRISE_INLINED {
      return load_up_to(F32(), x + i, left);
    });
    const std::size_t found = first_of(max, x, cols);
    a.y[row] = found == cols ? 0 : static_cast<std::int32_t>(found);
  }
}

}  // namespace

bool plan_argmax(const KernelCall& call, KernelPlan& plan) {
  const Argmax arguments{.x = Rows(call.tensors[0]),
                         .y = reinterpret_cast<std::int32_t*>(call.tensors[1].data)};
  if (arguments.x.strides[3] != 1) {
    return false;
  }
  plan.main.run = run;
  plan.main.items = call.tensors[0].shape().rows();
  plan.main.item_ns = static_cast<double>(arguments.x.dims[3]) / 8;
  plan.set_arguments(arguments);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(argmax)
#endif
