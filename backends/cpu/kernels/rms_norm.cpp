// rms_norm: the sum of squares and the scaling of a row, in vectors.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/rms_norm.cpp"
#include <cmath>
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/operands.h"
#include "backends/cpu/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct Norm {
  Rows x;
  float* y;
  const float* weight;  // null: 1
  Param<float> eps;
};

float sum_of_squares(const float* x, std::size_t count) {
  const F32 d;
  Vf sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  std::size_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
#pragma GCC unroll 4
    for (std::size_t j = 0; j < 4; ++j) {
      const Vf v = hn::LoadU(d, x + i + j * kLanes);
      sums[j] = hn::MulAdd(v, v, sums[j]);
    }
  }
  for (; i < count; i += kLanes) {
    const Vf v = load_up_to(d, x + i, count - i);
    sums[0] = hn::MulAdd(v, v, sums[0]);
  }
  const Vf sum = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

void run(const Work& work, std::int64_t first, std::int64_t end) {
  const F32 d;
  const auto& a = work.as<Norm>();
  const auto cols = static_cast<std::size_t>(a.x.dims[3]);
  const float eps = work.value(a.eps);
  for (std::int64_t row = first; row < end; ++row) {
    const float* x = a.x.row(row, a.x.dims);
    float* y = a.y + row * a.x.dims[3];
    const float mean = sum_of_squares(x, cols) / static_cast<float>(cols);
    const Vf scale = hn::Set(d, 1.0F / std::sqrt(mean + eps));
    for (std::size_t i = 0; i < cols; i += kLanes) {
      Vf v = hn::Mul(load_up_to(d, x + i, cols - i), scale);
      if (a.weight != nullptr) {
        v = hn::Mul(v, load_up_to(d, a.weight + i, cols - i));
      }
      store_up_to(d, v, y + i, cols - i);
    }
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
