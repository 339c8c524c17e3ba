// silu_mul: exp in f32 vectors.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/silu_mul.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/exp-inl.h"
#include "backends/cpu/kernels/operands.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct SiluMul {
  Rows gate, up;
  float* y;
  std::int64_t cols;
};

void run(const Work& work, std::int64_t first, std::int64_t end) {
  const F32 d;
  const auto& a = work.as<SiluMul>();
  const auto cols = static_cast<std::size_t>(a.cols);
  const Vf one = hn::Set(d, 1.0F);
  for (std::int64_t row = first; row < end; ++row) {
    const float* gate = a.gate.row(row, a.gate.dims);
    const float* up = a.up.row(row, a.gate.dims);
    float* y = a.y + row * a.cols;
    for (std::size_t i = 0; i < cols; i += kLanes) {
      const Vf g = load_up_to(d, gate + i, cols - i);
      const Vf silu = hn::Div(g, hn::Add(one, exp_of(hn::Neg(g))));
      store_up_to(d, hn::Mul(silu, load_up_to(d, up + i, cols - i)), y + i, cols - i);
    }
  }
}

}  // namespace

bool plan_silu_mul(const KernelCall& call, KernelPlan& plan) {
  const HostTensor& gate = call.tensors[0];
  const HostTensor& up = call.tensors[1] ? call.tensors[1] : gate;
  SiluMul arguments{.gate = Rows(gate),
                    .up = Rows(up),
                    .y = reinterpret_cast<float*>(call.tensors[2].data),
                    .cols = call.tensors[2].shape().back()};
  if (!call.tensors[1]) {
    arguments.up.data += arguments.cols;
  }
  plan.main.run = run;
  plan.main.items = gate.shape().rows();
  plan.main.item_ns = static_cast<double>(arguments.cols) / 2;
  plan.set_arguments(arguments);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(silu_mul)
#endif
