// A tile of rows of quantised weights of any kind times rows of x rounded to 8 bits.
#include "backends/cpu/kernels/rounded_tile-inl.h"
#include "backends/cpu/kernels/super_products-inl.h"
#include "backends/cpu/kernels/super_products_wide-inl.h"
#include "backends/cpu/kernels/super_quads-inl.h"

#if defined(REPRISE_ROUNDED_SUPER_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_ROUNDED_SUPER_INL_H
#undef REPRISE_ROUNDED_SUPER_INL_H
#else
#define REPRISE_ROUNDED_SUPER_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

/// Whether there are products of these weights with rounded rows.
template <class W>
inline constexpr bool kTakesRounded = REPRISE_BYTE_PRODUCTS || !kHasSuperBlocks<W>;

#if REPRISE_BYTE_PRODUCTS

/// As dot_tile, of one row of x.
template <class W>
HWY_INLINE void rounded_super_tile(const TileWeights& w, const RoundedRow& x, std::size_t k,
                                   hn::Vec<Four>& out) {
  SuperSums sums[kTileRows];
  for (std::size_t block = 0; block < k / kSuperBlock; ++block) {
    const SuperX<W> part(x, block);
#pragma GCC unroll 3
    for (std::size_t line = 0; line < W::kBytes; line += 64) {
      w.prefetch<kFirstCache>(block * W::kBytes + line);
    }
#pragma GCC unroll 4
    for (std::size_t r = 0; r < kTileRows; ++r) {
      add_super_block(w.row[r] + block * W::kBytes, part, sums[r]);
    }
  }
  out = sums_of(BlockSums(), sums[0].total(), sums[1].total(), sums[2].total(), sums[3].total());
}

#endif

/// As dot_tile, of weights of either kind.
template <class W, std::size_t kVectors>
HWY_INLINE void multiply_rounded(const TileWeights& w, const RoundedRow* x, std::size_t k,
                                 hn::Vec<Four> (&out)[kVectors]) {
  if constexpr (kQuadStep < W >> 1) {
    multiply_quads<W, kVectors>(w, x, k / kBlock, out);
  } else if constexpr (kHasSuperBlocks<W>) {
    for (std::size_t j = 0; j < kVectors; ++j) {
      rounded_super_tile<W>(w, x[j], k, out[j]);
    }
  } else {
    rounded_tile<W, kVectors>(w, x, k, out);
  }
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
