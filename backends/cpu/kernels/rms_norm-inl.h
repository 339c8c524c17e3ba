// What the kernels that end in a normalisation share.

#include <cmath>

#include "backends/cpu/kernels/row_fold-inl.h"

#if defined(REPRISE_RMS_NORM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_RMS_NORM_INL_H
#undef REPRISE_RMS_NORM_INL_H
#else
#define REPRISE_RMS_NORM_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

/// y = x / sqrt(mean(x^2) + eps) * weight, or without if it is null.
HWY_INLINE void normalise_row(const float* x, float* y, std::size_t cols, const float* weight,
                              float eps) {
  const F32 d;
  const auto element = [&](std::size_t i, std::size_t left)
                           REPRISE_INLINED { return load_up_to(d, x + i, left); };
  const float mean = fold<FoldSquares>(cols, element) / static_cast<float>(cols);
  const Vf scale = hn::Set(d, 1.0F / std::sqrt(mean + eps));
  write_row(y, cols, [&](std::size_t i, std::size_t left) REPRISE_INLINED {
    __builtin_prefetch(x + cols + i);  // the next row
    const Vf v = hn::Mul(element(i, left), scale);
    return weight == nullptr ? v : hn::Mul(v, load_up_to(d, weight + i, left));
  });
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
