// layer_norm: mean, distances from it and the scaling of a row, which stays in the cache meanwhile.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/layer_norm.cpp"
#include <cmath>
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/operands.h"
#include "backends/cpu/kernels/row_fold-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct LayerNorm {
  Rows x;
  float* y;
  const float* weight;  // null: 1
  const float* bias;    // null: 0
  Param<float> eps;
};

void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<LayerNorm>();
  const F32 d;
  const auto cols = static_cast<std::size_t>(a.x.dims[3]);
  const auto count = static_cast<float>(cols);
  const float eps = work.value(a.eps);
  for (std::int64_t row = first; row < end; ++row) {
    const float* x = a.x.row(row, a.x.dims);
    const float sum = fold<FoldSum>(cols, [&](std::size_t i, std::size_t left) REPRISE_INLINED {
      return load_up_to(d, x + i, left);
    });
    const Vf mean = hn::Set(d, sum / count);
    const auto distance = [&](std::size_t i, std::size_t left)
                              REPRISE_INLINED { return hn::Sub(load_up_to(d, x + i, left), mean); };
    const float squares = fold<FoldSquares>(cols, distance);
    const Vf scale = hn::Set(d, 1.0F / std::sqrt(squares / count + eps));
    write_row(a.y + row * a.x.dims[3], cols, [&](std::size_t i, std::size_t left) REPRISE_INLINED {
      __builtin_prefetch(x + cols + i);  // the next row
      Vf v = hn::Mul(distance(i, left), scale);
      if (a.weight != nullptr) {
        v = hn::Mul(v, load_up_to(d, a.weight + i, left));
      }
      return a.bias == nullptr ? v : hn::Add(v, load_up_to(d, a.bias + i, left));
    });
  }
}

}  // namespace

bool plan_layer_norm(const KernelCall& call, KernelPlan& plan) {
  const LayerNorm norm{.x = Rows(call.tensors[0]),
                       .y = reinterpret_cast<float*>(call.tensors[3].data),
                       .weight = reinterpret_cast<const float*>(call.tensors[1].data),
                       .bias = reinterpret_cast<const float*>(call.tensors[2].data),
                       .eps = attribute<Param<float>>(call, "eps")};
  plan.main = {.run = run,
               .items = call.tensors[0].shape().rows(),
               .item_ns = 10 + static_cast<double>(norm.x.dims[3]) / 3};
  plan.set_arguments(norm);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(layer_norm)
#endif
