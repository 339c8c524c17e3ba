// cumsum: sums in f64. Four parts of a row go on at once, each from the sum of those before it: an
// addition waits for the one before it, and four of them overlap.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/cumsum.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/operands.h"
#include "backends/cpu/kernels/row_pieces.h"
#include "backends/cpu/kernels/wide_sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

constexpr std::int64_t kPartsOfRow = 4;
constexpr std::int64_t kMinCols = 256;  // shorter rows are one part

struct Cumsum {
  Rows x;
  float* y;
};

/// Goes on from `sum`.
void add_up(const float* x, std::int64_t count, double& sum, float* y) {
  for (std::int64_t i = 0; i < count; ++i) {
    sum += static_cast<double>(x[i]);
    y[i] = static_cast<float>(sum);
  }
}

void add_up_parts(const float* x, std::int64_t cols, float* y) {
  const std::int64_t part = cols / kPartsOfRow;
  double sums[kPartsOfRow] = {};
  for (std::int64_t p = 0; p + 1 < kPartsOfRow; ++p) {
    WideSum sum;
    sum.add(x + p * part, static_cast<std::size_t>(part));
    sums[p + 1] = sums[p] + sum.total();
  }
  for (std::int64_t i = 0; i < part; ++i) {
#pragma GCC unroll 4
    for (std::int64_t p = 0; p < kPartsOfRow; ++p) {
      sums[p] += static_cast<double>(x[p * part + i]);
      y[p * part + i] = static_cast<float>(sums[p]);
    }
  }
  const std::int64_t done = kPartsOfRow * part;
  add_up(x + done, cols - done, sums[kPartsOfRow - 1], y + done);
}

void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<Cumsum>();
  const std::int64_t cols = a.x.dims[3];
  for (std::int64_t row = first; row < end; ++row) {
    const float* const x = a.x.row(row, a.x.dims);
    float* const y = a.y + row * cols;
    if (a.x.strides[3] == 1 && cols >= kMinCols) {
      add_up_parts(x, cols, y);
      continue;
    }
    double sum = 0;
    for_each_piece(x, a.x.strides[3], cols,
                   [&](const float* piece, std::int64_t at, std::int64_t count) {
                     add_up(piece, count, sum, y + at);
                   });
  }
}

}  // namespace

bool plan_cumsum(const KernelCall& call, KernelPlan& plan) {
  const Cumsum cumsum{.x = Rows(call.tensors[0]),
                      .y = reinterpret_cast<float*>(call.tensors[1].data)};
  plan.main = {.run = run,
               .items = call.tensors[0].shape().rows(),
               .item_ns = 10 + static_cast<double>(cumsum.x.dims[3])};
  plan.set_arguments(cumsum);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(cumsum)
#endif
