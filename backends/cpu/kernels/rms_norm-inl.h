// What the kernels that end in a normalisation share: the sum of squares and the scaling of a row.

#include <cmath>

#include "backends/cpu/kernels/simd-inl.h"

#if defined(REPRISE_RMS_NORM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_RMS_NORM_INL_H
#undef REPRISE_RMS_NORM_INL_H
#else
#define REPRISE_RMS_NORM_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

HWY_INLINE float sum_of_squares(const float* x, std::size_t count) {
  const F32 d;
  Vf sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  std::size_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
#pragma GCC unroll 4
    for (std::size_t j = 0; j < 4; ++j) {
      const Vf v = hn::LoadU(d, x + i + j * kLanes);
      sums[j] = hn::MulAdd(v, v, sums[j]);
    }
  }
  for (; i < count; i += kLanes) {
    const Vf v = load_up_to(d, x + i, count - i);
    sums[0] = hn::MulAdd(v, v, sums[0]);
  }
  const Vf sum = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

/// y = x / sqrt(mean(x^2) + eps) * weight, or without if it is null.
HWY_INLINE void normalise_row(const float* x, float* y, std::size_t cols, const float* weight,
                              float eps) {
  const F32 d;
  const float mean = sum_of_squares(x, cols) / static_cast<float>(cols);
  const Vf scale = hn::Set(d, 1.0F / std::sqrt(mean + eps));
  for (std::size_t i = 0; i < cols; i += kLanes) {
    Vf v = hn::Mul(load_up_to(d, x + i, cols - i), scale);
    if (weight != nullptr) {
      v = hn::Mul(v, load_up_to(d, weight + i, cols - i));
    }
    store_up_to(d, v, y + i, cols - i);
  }
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
