// argmax: the largest value in vectors, then its first place.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/argmax.cpp"
#include <algorithm>
#include <hwy/foreach_target.h>
#include <limits>

#include "backends/cpu/kernels/operands.h"
#include "backends/cpu/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct Argmax {
  Rows x;
  std::int32_t* y;
};

/// NaN never wins.
float largest(const float* x, std::size_t count) {
  const F32 d;
  Vf best = hn::Set(d, -std::numeric_limits<float>::infinity());
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Vf v = hn::LoadU(d, x + i);
    best = hn::IfThenElse(hn::Gt(v, best), v, best);
  }
  float max = hn::GetLane(hn::MaxOfLanes(d, best));
  for (; i < count; ++i) {
    max = x[i] > max ? x[i] : max;
  }
  return max;
}

void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<Argmax>();
  for (std::int64_t row = first; row < end; ++row) {
    const float* x = a.x.row(row, a.x.dims);
    const float* behind = x + a.x.dims[3];
    const float* found = std::find(x, behind, largest(x, static_cast<std::size_t>(a.x.dims[3])));
    a.y[row] = found == behind ? 0 : static_cast<std::int32_t>(found - x);
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
  plan.main.item_ns = static_cast<double>(arguments.x.dims[3]) / 2;
  plan.set_arguments(arguments);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(argmax)
#endif
