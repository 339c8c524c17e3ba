// gelu_mul, sigmoid_mul, silu_mul: exp in f32 vectors.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/gated.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/activations-inl.h"
#include "backends/cpu/kernels/operands.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct Gated {
  Rows gate, up;
  float* y;
  std::int64_t cols;
};

template <class F>
void run(const Work& work, std::int64_t first, std::int64_t end) {
  const F32 d;
  const auto& a = work.as<Gated>();
  const auto cols = static_cast<std::size_t>(a.cols);
  for (std::int64_t row = first; row < end; ++row) {
    const float* gate = a.gate.row(row, a.gate.dims);
    const float* up = a.up.row(row, a.gate.dims);
    float* y = a.y + row * a.cols;
    for (std::size_t i = 0; i < cols; i += kLanes) {
      const Vf g = load_up_to(d, gate + i, cols - i);
      store_up_to(d, hn::Mul(F::of(g), load_up_to(d, up + i, cols - i)), y + i, cols - i);
    }
  }
}

template <class F>
bool plan(const KernelCall& call, KernelPlan& to) {
  const HostTensor& gate = call.tensors[0];
  const HostTensor& up = call.tensors[1] ? call.tensors[1] : gate;
  Gated arguments{.gate = Rows(gate),
                  .up = Rows(up),
                  .y = reinterpret_cast<float*>(call.tensors[2].data),
                  .cols = call.tensors[2].shape().back()};
  if (!call.tensors[1]) {
    arguments.up.data += arguments.cols;
  }
  to.main.run = run<F>;
  to.main.items = gate.shape().rows();
  to.main.item_ns = static_cast<double>(arguments.cols) / 2;
  to.set_arguments(arguments);
  return true;
}

}  // namespace

bool plan_gelu_mul(const KernelCall& call, KernelPlan& to) { return plan<Gelu>(call, to); }
bool plan_sigmoid_mul(const KernelCall& call, KernelPlan& to) { return plan<Sigmoid>(call, to); }
bool plan_silu_mul(const KernelCall& call, KernelPlan& to) { return plan<Silu>(call, to); }

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(gelu_mul)
REPRISE_EXPORT_KERNEL(sigmoid_mul)
REPRISE_EXPORT_KERNEL(silu_mul)
#endif
