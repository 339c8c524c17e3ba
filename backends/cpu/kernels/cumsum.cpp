// cumsum: sums in f64, eight elements at a time, in one order on every processor.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/cumsum.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/operands.h"
#include "backends/cpu/kernels/row_pieces.h"
#include "backends/cpu/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct Cumsum {
  Rows x;
  float* y;
};

using F64 = hn::CappedTag<double, 8>;
using Vd = hn::Vec<F64>;
constexpr std::size_t kWidth = hn::MaxLanes(F64());
constexpr std::size_t kGroup = 8;

/// The sums of a row so far.
class Sums {
 public:
  HWY_INLINE Sums() {
    const hn::Repartition<std::int64_t, F64> words;
    for (std::size_t s = 0; s < kSteps; ++s) {
      HWY_ALIGN std::int64_t from[kWidth], upper[kWidth];
      for (std::size_t i = 0; i < kWidth; ++i) {
        from[i] = static_cast<std::int64_t>(last_below(i, std::size_t{1} << s));
        upper[i] = (i >> s & 1U) != 0 ? -1 : 0;
      }
      from_[s] = hn::SetTableIndices(F64(), from);
      upper_[s] = hn::BitCast(F64(), hn::Load(words, upper));
    }
  }
  /// Of every 2, 4, then 8 elements the upper half gets the last sum of the lower one; all get that
  /// of the groups before.
  HWY_INLINE void add_group(const float* x, float* y) {
    constexpr std::size_t kParts = kGroup / kWidth;
    const hn::Rebind<float, F64> narrow;
    Vd v[kParts];
    for (std::size_t p = 0; p < kParts; ++p) {
      v[p] = hn::PromoteTo(F64(), hn::LoadU(narrow, x + p * kWidth));
      for (std::size_t s = 0; s < kSteps; ++s) {
        v[p] = hn::Add(v[p], hn::And(upper_[s], hn::TableLookupLanes(v[p], from_[s])));
      }
    }
    for (std::size_t half = 1; half < kParts; half *= 2) {
      for (std::size_t p = 0; p < kParts; ++p) {
        v[p] = (p & half) != 0 ? hn::Add(v[p], last_of(v[last_below(p, half)])) : v[p];
      }
    }
    for (std::size_t p = 0; p < kParts; ++p) {
      hn::StoreU(hn::DemoteTo(narrow, hn::Add(before_, v[p])), narrow, y + p * kWidth);
    }
    before_ = hn::Add(before_, last_of(v[kParts - 1]));
  }

 private:
  static constexpr std::size_t kSteps = kWidth == 8 ? 3 : kWidth == 4 ? 2 : 1;
  /// The last one of the lower half of the 2 * half that i is one of.
  static constexpr std::size_t last_below(std::size_t i, std::size_t half) {
    return (i & ~(2 * half - 1)) | (half - 1);
  }
  static HWY_INLINE Vd last_of(Vd v) { return hn::Set(F64(), hn::ExtractLane(v, kWidth - 1)); }

  decltype(hn::SetTableIndices(F64(), static_cast<const std::int64_t*>(nullptr))) from_[kSteps];
  Vd upper_[kSteps];
  Vd before_ = hn::Zero(F64());
};

void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<Cumsum>();
  const std::int64_t cols = a.x.dims[3];
  for (std::int64_t row = first; row < end; ++row) {
    Sums sums;
    for_each_piece(a.x.row(row, a.x.dims), a.x.strides[3], cols,
                   [&](const float* x, std::int64_t at, std::int64_t count) HWY_ATTR {
                     float* const y = a.y + row * cols + at;
                     const auto n = static_cast<std::size_t>(count);
                     const std::size_t whole = n / kGroup * kGroup;
                     for (std::size_t i = 0; i < whole; i += kGroup) {
                       sums.add_group(x + i, y + i);
                     }
                     if (whole < n) {
                       float rest[kGroup] = {};
                       std::copy(x + whole, x + n, rest);
                       sums.add_group(rest, rest);
                       std::copy_n(rest, n - whole, y + whole);
                     }
                   });
  }
}

}  // namespace

bool plan_cumsum(const KernelCall& call, KernelPlan& plan) {
  const Cumsum cumsum{.x = Rows(call.tensors[0]),
                      .y = reinterpret_cast<float*>(call.tensors[1].data)};
  plan.main = {.run = run,
               .items = call.tensors[0].shape().rows(),
               .item_ns = 10 + static_cast<double>(cumsum.x.dims[3]) * 0.4};
  plan.set_arguments(cumsum);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(cumsum)
#endif
