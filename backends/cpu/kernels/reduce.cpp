// max, mean, sum, sum_rows: sums in f64, in the order that docs/numerics.md states.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/reduce.cpp"
#include <cmath>
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/operands.h"
#include "backends/cpu/kernels/row_fold-inl.h"
#include "backends/cpu/kernels/row_pieces.h"
#include "backends/cpu/kernels/wide_sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct Reduce {
  Rows x;
  float* y;
};

double sum_of_row(const float* row, std::int64_t stride, std::int64_t cols) {
  WideSum sum;
  for_each_piece(row, stride, cols, [&](const float* x, std::int64_t, std::int64_t count) HWY_ATTR {
    sum.add(x, static_cast<std::size_t>(count));
  });
  return sum.total();
}

/// NaN wins; both zeros are 0.
float max_of_row(const float* row, std::int64_t stride, std::int64_t cols) {
  float max = -std::numeric_limits<float>::infinity();
  for_each_piece(row, stride, cols, [&](const float* x, std::int64_t, std::int64_t count) HWY_ATTR {
    const float largest = fold<FoldMaxOrNan>(static_cast<std::size_t>(count),
                                             [&](std::size_t i, std::size_t left) REPRISE_INLINED {
                                               return load_up_to(F32(), x + i, left);
                                             });
    max = std::isnan(max) || max > largest ? max : largest;
  });
  return max + 0.0F;
}

struct MaxOfRow {
  static float of(const Rows& x, const float* row) {
    return max_of_row(row, x.strides[3], x.dims[3]);
  }
};
struct MeanOfRow {
  static float of(const Rows& x, const float* row) {
    return static_cast<float>(sum_of_row(row, x.strides[3], x.dims[3]) /
                              static_cast<double>(x.dims[3]));
  }
};
struct SumOfRow {
  static float of(const Rows& x, const float* row) {
    return static_cast<float>(sum_of_row(row, x.strides[3], x.dims[3]));
  }
};

template <class F>
void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<Reduce>();
  for (std::int64_t row = first; row < end; ++row) {
    a.y[row] = F::of(a.x, a.x.row(row, a.x.dims));
  }
}

template <class F>
bool plan_rows(const KernelCall& call, KernelPlan& plan) {
  const Reduce reduce{.x = Rows(call.tensors[0]),
                      .y = reinterpret_cast<float*>(call.tensors[1].data)};
  plan.main = {.run = run<F>,
               .items = call.tensors[0].shape().rows(),
               .item_ns = 10 + static_cast<double>(reduce.x.dims[3]) *
                                   (reduce.x.strides[3] == 1 ? 0.15 : 1)};
  plan.set_arguments(reduce);
  return true;
}

/// All elements: rows, or pieces of the one row that neighbours are.
struct SumOfAll {
  static constexpr std::int64_t kPiece = 16384;
  Rows x;
  float* y;
  std::int64_t items;
  bool pieces;
};

void run_partial_sums(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<SumOfAll>();
  auto* const sums = reinterpret_cast<double*>(work.shared);
  for (std::int64_t item = first; item < end; ++item) {
    const std::int64_t from = item * SumOfAll::kPiece;
    sums[item] =
        a.pieces ? sum_of_row(a.x.data + from, 1, std::min(SumOfAll::kPiece, a.x.dims[3] - from))
                 : sum_of_row(a.x.row(item, a.x.dims), a.x.strides[3], a.x.dims[3]);
  }
}

void run_total(const Work& work, std::int64_t /*first*/, std::int64_t /*end*/) {
  const auto& a = work.as<SumOfAll>();
  const auto* const sums = reinterpret_cast<const double*>(work.shared);
  double total = 0;
  for (std::int64_t item = 0; item < a.items; ++item) {
    total += sums[item];
  }
  *a.y = static_cast<float>(total);
}

}  // namespace

bool plan_max(const KernelCall& call, KernelPlan& plan) { return plan_rows<MaxOfRow>(call, plan); }
bool plan_mean(const KernelCall& call, KernelPlan& plan) {
  return plan_rows<MeanOfRow>(call, plan);
}
bool plan_sum_rows(const KernelCall& call, KernelPlan& plan) {
  return plan_rows<SumOfRow>(call, plan);
}

bool plan_sum(const KernelCall& call, KernelPlan& plan) {
  const HostTensor& x = call.tensors[0];
  SumOfAll sum{.x = Rows(x),
               .y = reinterpret_cast<float*>(call.tensors[1].data),
               .items = x.shape().rows(),
               .pieces = x.spec->contiguous()};
  if (sum.pieces) {
    sum.x.dims[3] = x.shape().elements();
    sum.items = (sum.x.dims[3] + SumOfAll::kPiece - 1) / SumOfAll::kPiece;
  }
  const double columns = static_cast<double>(std::min(sum.x.dims[3], SumOfAll::kPiece));
  plan.prepare = {.run = run_partial_sums,
                  .items = sum.items,
                  .item_ns = 10 + columns * (sum.x.strides[3] == 1 ? 0.15 : 1)};
  plan.main = {.run = run_total, .items = 1, .item_ns = static_cast<double>(sum.items)};
  plan.shared_bytes = static_cast<std::uint64_t>(sum.items) * sizeof(double);
  plan.set_arguments(sum);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(max)
REPRISE_EXPORT_KERNEL(mean)
REPRISE_EXPORT_KERNEL(sum)
REPRISE_EXPORT_KERNEL(sum_rows)
#endif
