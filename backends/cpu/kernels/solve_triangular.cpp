// solve_triangular: columns of a batch are solved together, a strip of vectors at a time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/solve_triangular.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/operands.h"
#include "backends/cpu/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

constexpr std::size_t kVectors = 4;
constexpr std::int64_t kStrip = kVectors * kLanes;  // columns

struct Solve {
  Rows a, b;
  float* x;
  std::int64_t strips;
  bool unit;
};

/// One row of a strip: b less what the rows above it take, divided by the diagonal. kWhole: the
/// strip has all of its columns.
template <bool kWhole>
HWY_INLINE void solve_row(const Solve& s, const float* a, std::int64_t row, const float* b,
                          float* x, std::size_t count) {
  const F32 d;
  const std::int64_t cols = s.b.dims[3];
  float* const to = x + row * cols;
  if (s.b.strides[3] != 1) {
    for (std::size_t i = 0; i < count; ++i) {
      to[i] = b[static_cast<std::int64_t>(i) * s.b.strides[3]];
    }
    b = to;
  }
  Vf rest[kVectors];
  const auto left = [&](std::size_t v) {
    return kWhole ? kLanes : count - std::min(count, v * kLanes);
  };
  for (std::size_t v = 0; v < kVectors; ++v) {
    rest[v] = load_up_to(d, b + v * kLanes, left(v));
  }
  for (std::int64_t k = 0; k < row; ++k) {
    const Vf factor = hn::Set(d, a[k * s.a.strides[3]]);
    const float* const solved = x + k * cols;
    for (std::size_t v = 0; v < kVectors; ++v) {
      rest[v] = hn::NegMulAdd(factor, load_up_to(d, solved + v * kLanes, left(v)), rest[v]);
    }
  }
  const Vf diagonal = hn::Set(d, s.unit ? 1.0F : a[row * s.a.strides[3]]);
  for (std::size_t v = 0; v < kVectors; ++v) {
    store_up_to(d, s.unit ? rest[v] : hn::Div(rest[v], diagonal), to + v * kLanes, left(v));
  }
}

template <bool kWhole>
void solve_strip(const Solve& s, std::int64_t batch, std::int64_t column, std::size_t count) {
  const std::int64_t rows = s.b.dims[2];
  float* const x = s.x + batch * rows * s.b.dims[3] + column;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t index = batch * rows + row;
    const float* const b = s.b.row(index, s.b.dims) + column * s.b.strides[3];
    solve_row<kWhole>(s, s.a.row(index, s.a.dims), row, b, x, count);
  }
}

void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& s = work.as<Solve>();
  for (std::int64_t item = first; item < end; ++item) {
    const std::int64_t batch = item / s.strips;
    const std::int64_t column = item % s.strips * kStrip;
    const std::int64_t count = std::min(kStrip, s.b.dims[3] - column);
    const auto solve = count == kStrip ? solve_strip<true> : solve_strip<false>;
    solve(s, batch, column, static_cast<std::size_t>(count));
  }
}

}  // namespace

bool plan_solve_triangular(const KernelCall& call, KernelPlan& plan) {
  Solve solve{.a = Rows(call.tensors[0]),
              .b = Rows(call.tensors[1]),
              .x = reinterpret_cast<float*>(call.tensors[2].data),
              .strips = 0,
              .unit = attribute<bool>(call, "unit")};
  solve.strips = (solve.b.dims[3] + kStrip - 1) / kStrip;
  const auto rows = static_cast<double>(solve.b.dims[2]);
  plan.main = {.run = run,
               .items = solve.b.dims[0] * solve.b.dims[1] * solve.strips,
               .item_ns = 10 + rows * rows * 2 + rows * kStrip};
  plan.set_arguments(solve);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(solve_triangular)
#endif
