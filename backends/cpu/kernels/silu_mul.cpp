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
  const Vf most = hn::Set(d, 88.0F);  // exp stays finite; g / exp(88) is 0 next to any other value
  for (std::int64_t row = first; row < end; ++row) {
    const float* gate = a.gate.row(row, a.gate.dims);
    const float* up = a.up.row(row, a.gate.dims);
    float* y = a.y + row * a.cols;
    for (std::size_t i = 0; i < cols; i += kLanes) {
      const Vf g = load_up_to(d, gate + i, cols - i);
      const Vf e = hn::Exp(d, hn::Min(hn::Neg(g), most));
      const Vf silu = hn::Div(g, hn::Add(one, e));
      store_up_to(d, hn::Mul(silu, load_up_to(d, up + i, cols - i)), y + i, cols - i);
    }
  }
}

}  // namespace

bool plan_silu_mul(const KernelCall& call, Launch& launch) {
  const HostTensor& gate = call.tensors[0];
  const HostTensor& up = call.tensors[1] ? call.tensors[1] : gate;
  SiluMul arguments{.gate = Rows(gate),
                    .up = Rows(up),
                    .y = reinterpret_cast<float*>(call.tensors[2].data),
                    .cols = call.tensors[2].shape().back()};
  if (!call.tensors[1]) {
    arguments.up.data += arguments.cols;
  }
  launch.main.run = run;
  launch.main.items = gate.shape().rows();
  launch.main.item_ns = static_cast<double>(arguments.cols) / 2;
  launch.set_arguments(arguments);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace reprise::cpu {
HWY_EXPORT(plan_silu_mul);
bool plan_silu_mul(const KernelCall& call, Launch& launch) {
  return HWY_DYNAMIC_DISPATCH(plan_silu_mul)(call, launch);
}
}  // namespace reprise::cpu
#endif
