// causal_mask: the columns that a row sees are copied, the others filled. It needs no vectors.
#include <algorithm>
#include <cstring>
#include <limits>

#include "backends/cpu/kernels/operands.h"
#include "backends/cpu/kernels/row_pieces.h"

namespace reprise::cpu {
namespace {

struct CausalMask {
  Rows x;
  float* y;  // may be x
  Param<std::int32_t> n_past;
};

void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<CausalMask>();
  const std::int64_t cols = a.x.dims[3];
  const std::int64_t n_past = work.value(a.n_past);
  for (std::int64_t row = first; row < end; ++row) {
    const std::int64_t seen = std::clamp<std::int64_t>(n_past + row % a.x.dims[2] + 1, 0, cols);
    float* const y = a.y + row * cols;
    for_each_piece(a.x.row(row, a.x.dims), a.x.strides[3], seen,
                   [&](const float* x, std::int64_t at, std::int64_t count) {
                     std::memmove(y + at, x, static_cast<std::size_t>(count) * sizeof(float));
                   });
    std::fill(y + seen, y + cols, -std::numeric_limits<float>::infinity());
  }
}

}  // namespace

bool plan_causal_mask(const KernelCall& call, KernelPlan& plan) {
  const CausalMask mask{.x = Rows(call.tensors[0]),
                        .y = reinterpret_cast<float*>(call.tensors[1].data),
                        .n_past = attribute<Param<std::int32_t>>(call, "n_past")};
  plan.main = {.run = run,
               .items = call.tensors[0].shape().rows(),
               .item_ns = 10 + static_cast<double>(mask.x.dims[3]) / 4};
  plan.set_arguments(mask);
  return true;
}

}  // namespace reprise::cpu
