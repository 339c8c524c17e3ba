// A tile of rows of quantised weights times rows of x rounded to 8 bits.
#include "backends/cpu/kernels/rounded_quads-inl.h"
#include "backends/cpu/kernels/rounded_quads_wide-inl.h"

#if defined(REPRISE_ROUNDED_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_ROUNDED_TILE_INL_H
#undef REPRISE_ROUNDED_TILE_INL_H
#else
#define REPRISE_ROUNDED_TILE_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

/// As dot_tile.
template <class W, std::size_t kVectors>
HWY_INLINE void rounded_tile(const TileWeights& w, const RoundedRow* x, std::size_t k,
                             hn::Vec<Four> (&out)[kVectors]) {
  const std::size_t blocks = k / kBlock;
  std::size_t done = 0;
  if constexpr (kQuadStep<W> != 0) {
    done = blocks / 4 * 4;
    if (done != 0) {
      multiply_quads<W, kVectors>(w, x, done, out);
    }
    if (done == blocks) {
      return;
    }
  }
  const BlockSums d;
  hn::Vec<BlockSums> sums[kVectors][kTileRows];
#pragma GCC unroll 4
  for (std::size_t j = 0; j < kVectors; ++j) {
#pragma GCC unroll 4
    for (std::size_t r = 0; r < kTileRows; ++r) {
      sums[j][r] = hn::Zero(d);
    }
  }
  for_each_piece<W::kBlockBytes, kFirstCache>(w, blocks - done, [&](std::size_t b) REPRISE_INLINED {
#pragma GCC unroll 4
    for (std::size_t r = 0; r < kTileRows; ++r) {
#pragma GCC unroll 4
      for (std::size_t j = 0; j < kVectors; ++j) {
        sums[j][r] = add_block<W>(w.row[r], x[j], done + b, sums[j][r]);
      }
    }
  });
#pragma GCC unroll 4
  for (std::size_t j = 0; j < kVectors; ++j) {
    const auto rest = sums_of(d, sums[j][0], sums[j][1], sums[j][2], sums[j][3]);
    out[j] = done == 0 ? rest : hn::Add(out[j], rest);
  }
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
