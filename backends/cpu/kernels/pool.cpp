// pool_1d, pool_2d: the rows of a window become one row with room for the padding, whose columns
// become results.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/pool.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/operands.h"
#include "backends/cpu/kernels/row_fold-inl.h"
#include "backends/cpu/kernels/row_pieces.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct Window {
  std::int64_t taps, stride, padding;
};

struct Pool {
  Rows x;
  float* y;
  std::array<std::int64_t, 4> dims;  // of y
  Window along_y, along_x;
  float factor;  // of results
};

/// The rows of one window, as the columns from `padding` on of `together`. `x`: the first row of
/// all.
template <class Fold>
void join_rows(const Pool& a, const float* x, std::int64_t top, float* together) {
  const F32 d;
  const std::int64_t cols = a.x.dims[3];
  const std::int64_t first = std::max<std::int64_t>(top, 0);
  const std::int64_t end = std::min(top + a.along_y.taps, a.x.dims[2]);
  if (a.x.strides[3] == 1 && first < end) {
    const float* const from = x + first * a.x.strides[2];
    write_row(together, static_cast<std::size_t>(cols),
              [&](std::size_t i, std::size_t left) REPRISE_INLINED {
                Vf all = load_up_to(d, from + i, left);
                for (std::int64_t r = 1; r < end - first; ++r) {
                  all = Fold::add(all, load_up_to(d, from + r * a.x.strides[2] + i, left));
                }
                return all;
              });
    return;
  }
  std::fill_n(together, cols, Fold::kFirst);
  for (std::int64_t r = first; r < end; ++r) {
    for_each_piece(x + r * a.x.strides[2], a.x.strides[3], cols,
                   [&](const float* piece, std::int64_t at, std::int64_t count) HWY_ATTR {
                     float* const to = together + at;
                     write_row(to, static_cast<std::size_t>(count),
                               [&](std::size_t i, std::size_t left) REPRISE_INLINED {
                                 return Fold::add(load_up_to(d, to + i, left),
                                                  load_up_to(d, piece + i, left));
                               });
                   });
  }
}

/// Joins the taps of every window along a row.
template <class Fold>
void join_columns(const Pool& a, const float* together, float* y) {
  const F32 d;
  const Vf factor = hn::Set(d, a.factor);
  const std::int64_t taps = a.along_x.taps;
  const std::int64_t stride = a.along_x.stride;
  const std::int64_t cols = a.dims[3];
  constexpr std::int64_t kWidth = kLanes;
  const bool by_vectors = stride <= 2 && cols >= kWidth;
  for (std::int64_t l = 0; by_vectors && l < cols; l += kWidth) {
    const std::int64_t at = std::min(l, cols - kWidth);  // the last ones twice
    Vf all = hn::Set(d, Fold::kFirst);
    for (std::int64_t t = 0; t < taps; t += stride) {
      const float* const from = together + at * stride + t;
      if (stride == 1) {
        all = Fold::add(all, hn::LoadU(d, from));
      } else {
        Vf even, odd;
        hn::LoadInterleaved2(d, from, even, odd);
        all = Fold::add(all, even);
        all = t + 1 < taps ? Fold::add(all, odd) : all;
      }
    }
    hn::StoreU(hn::Mul(all, factor), d, y + at);
  }
  for (std::int64_t l = 0; !by_vectors && l < cols; ++l) {
    Vf all = hn::Set(d, Fold::kFirst);
    for (std::int64_t t = 0; t < taps; ++t) {
      all = Fold::add(all, hn::Set(d, together[l * stride + t]));
    }
    y[l] = hn::GetLane(hn::Mul(all, factor));
  }
}

template <class Fold>
void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<Pool>();
  auto* const together = reinterpret_cast<float*>(work.own);
  float* const inside = together + a.along_x.padding;
  std::fill(together, inside, Fold::kFirst);
  std::fill_n(inside + a.x.dims[3], a.along_x.padding + 1, Fold::kFirst);
  const std::int64_t rows = a.dims[2];
  for (std::int64_t row = first; row < end;) {
    const std::int64_t image = row / rows;
    const float* const x =
        a.x.data + image / a.dims[1] * a.x.strides[0] + image % a.dims[1] * a.x.strides[1];
    for (; row < std::min(end, (image + 1) * rows); ++row) {
      const std::int64_t top = (row - image * rows) * a.along_y.stride - a.along_y.padding;
      join_rows<Fold>(a, x, top, inside);
      join_columns<Fold>(a, together, a.y + row * a.dims[3]);
    }
  }
}

bool plan_windows(const KernelCall& call, const Window& along_y, const Window& along_x,
                  KernelPlan& plan) {
  const bool mean = attribute<std::int32_t>(call, "mode") == 1;
  const auto taps = static_cast<double>(along_y.taps * along_x.taps);
  const Pool pool{.x = Rows(call.tensors[0]),
                  .y = reinterpret_cast<float*>(call.tensors[1].data),
                  .dims = call.tensors[1].shape().padded(),
                  .along_y = along_y,
                  .along_x = along_x,
                  .factor = mean ? static_cast<float>(1 / taps) : 1};
  plan.main = {.run = mean ? run<FoldSum> : run<FoldMaxOrNan>,
               .items = call.tensors[1].shape().rows(),
               .item_ns = 20 + static_cast<double>(pool.dims[3]) * taps / 10};
  // Vectors of two may read one element behind the padding.
  plan.own_bytes =
      static_cast<std::uint64_t>(pool.x.dims[3] + 2 * along_x.padding + 1) * sizeof(float);
  plan.set_arguments(pool);
  return true;
}

}  // namespace

bool plan_pool_1d(const KernelCall& call, KernelPlan& plan) {
  const auto number = [&](const char* name) { return attribute<std::int32_t>(call, name); };
  return plan_windows(call, {1, 1, 0}, {number("width"), number("stride"), number("padding")},
                      plan);
}

bool plan_pool_2d(const KernelCall& call, KernelPlan& plan) {
  const auto number = [&](const char* name) { return attribute<std::int32_t>(call, name); };
  return plan_windows(call, {number("height"), number("stride_y"), number("padding_y")},
                      {number("width"), number("stride_x"), number("padding_x")}, plan);
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(pool_1d)
REPRISE_EXPORT_KERNEL(pool_2d)
#endif
