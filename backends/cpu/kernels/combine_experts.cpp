// combine_experts: the elements of a row in vectors, expert after expert.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/combine_experts.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/operands.h"
#include "backends/cpu/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct Combine {
  const float* y;
  const float* weights;
  float* z;
  std::int64_t used, m;
  std::int64_t y_row, y_expert;  // strides
};

/// Items are rows.
void run(const Work& work, std::int64_t first, std::int64_t end) {
  const F32 d;
  const auto& a = work.as<Combine>();
  const auto m = static_cast<std::size_t>(a.m);
  for (std::int64_t row = first; row < end; ++row) {
    const float* y = a.y + row * a.y_row;
    const float* weights = a.weights + row * a.used;
    for (std::size_t i = 0; i < m; i += kLanes) {
      Vf sum = hn::Zero(d);
      for (std::int64_t j = 0; j < a.used; ++j) {
        sum = hn::MulAdd(hn::Set(d, weights[j]), load_up_to(d, y + j * a.y_expert + i, m - i), sum);
      }
      store_up_to(d, sum, a.z + static_cast<std::size_t>(row) * m + i, m - i);
    }
  }
}

}  // namespace

bool plan_combine_experts(const KernelCall& call, KernelPlan& plan) {
  const HostTensor& y = call.tensors[0];
  const auto strides = padded_strides(y);
  const Combine arguments{.y = reinterpret_cast<const float*>(y.data),
                          .weights = reinterpret_cast<const float*>(call.tensors[1].data),
                          .z = reinterpret_cast<float*>(call.tensors[2].data),
                          .used = y.shape().dim(1),
                          .m = y.shape().dim(2),
                          .y_row = strides[1],
                          .y_expert = strides[2]};
  plan.main.run = run;
  plan.main.items = y.shape().dim(0);
  plan.main.item_ns = static_cast<double>(arguments.used * arguments.m) / 8;
  plan.set_arguments(arguments);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(combine_experts)
#endif
