// Dot products of a few rows of weights with a few rows of f32: the sums of a tile stay in
// registers. Every sum is added up in the same order, whatever tile it is in.
#include <hwy/cache_control.h>

#include "backends/cpu/kernels/weights-inl.h"

#if defined(REPRISE_DOT_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_DOT_TILE_INL_H
#undef REPRISE_DOT_TILE_INL_H
#else
#define REPRISE_DOT_TILE_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

/// Rows of weights in a tile.
constexpr std::size_t kTileRows = 4;
/// Rows of x in the largest tile: what registers hold.
constexpr std::size_t kTileVectors = HWY_TARGET <= HWY_AVX3 ? 4 : 2;

/// Rows of weights in a tile, and the distance to the ones that the next tile reads.
struct TileWeights {
  const std::byte* row[kTileRows];
  std::int64_t next;
  HWY_INLINE void prefetch(std::size_t offset) const {
#pragma GCC unroll 4
    for (std::size_t r = 0; r < kTileRows; ++r) {
      hwy::Prefetch(row[r] + next + offset);
    }
  }
};

/// sum += the products of one step.
template <class W>
HWY_INLINE Vf add_step(const std::byte* row, const float* x, std::size_t i, Vf sum) {
  const F32 d;
  const typename W::Step step = W::step(row, i);
  if constexpr (kHasTail<W>) {
    return hn::MulAdd(step.part(0), hn::LoadU(d, x + i), sum);
  } else {
    Vf block = hn::Mul(step.unscaled(0), hn::LoadU(d, x + i));
#pragma GCC unroll 8
    for (std::size_t p = 1; p < kParts<W>; ++p) {
      block = hn::MulAdd(step.unscaled(p), hn::LoadU(d, x + i + p * kLanes), block);
    }
    return hn::MulAdd(step.scale, block, sum);
  }
}

/// out[j] = {dot(x[j], w.row[0]), ..., dot(x[j], w.row[3])}, k elements each.
template <class W, std::size_t kVectors>
HWY_INLINE void dot_tile(const TileWeights& w, const float* const* x, std::size_t k,
                         hn::Vec<Four> (&out)[kVectors]) {
  const F32 d;
  Vf sums[kVectors][kTileRows];
#pragma GCC unroll 4
  for (std::size_t j = 0; j < kVectors; ++j) {
#pragma GCC unroll 4
    for (std::size_t r = 0; r < kTileRows; ++r) {
      sums[j][r] = hn::Zero(d);
    }
  }
  std::size_t i = 0;
  for (; i + W::kStep <= k; i += W::kStep) {
    w.prefetch(W::bytes(i));
    if constexpr (kVectors == 1) {
#pragma GCC unroll 4
      for (std::size_t r = 0; r < kTileRows; ++r) {
        sums[0][r] = add_step<W>(w.row[r], x[0], i, sums[0][r]);
      }
      continue;
    }
    const typename W::Step steps[kTileRows] = {W::step(w.row[0], i), W::step(w.row[1], i),
                                               W::step(w.row[2], i), W::step(w.row[3], i)};
#pragma GCC unroll 8
    for (std::size_t p = 0; p < kParts<W>; ++p) {
      const Vf weights[kTileRows] = {steps[0].part(p), steps[1].part(p), steps[2].part(p),
                                     steps[3].part(p)};
#pragma GCC unroll 4
      for (std::size_t j = 0; j < kVectors; ++j) {
        const Vf row = hn::LoadU(d, x[j] + i + p * kLanes);
#pragma GCC unroll 4
        for (std::size_t r = 0; r < kTileRows; ++r) {
          sums[j][r] = hn::MulAdd(weights[r], row, sums[j][r]);
        }
      }
    }
  }
  if constexpr (kHasTail<W>) {
    if (i < k) {
      const Vf weights[kTileRows] = {W::tail(w.row[0], i, k - i), W::tail(w.row[1], i, k - i),
                                     W::tail(w.row[2], i, k - i), W::tail(w.row[3], i, k - i)};
#pragma GCC unroll 4
      for (std::size_t j = 0; j < kVectors; ++j) {
        const Vf row = load_part(d, x[j] + i, k - i);
#pragma GCC unroll 4
        for (std::size_t r = 0; r < kTileRows; ++r) {
          sums[j][r] = hn::MulAdd(weights[r], row, sums[j][r]);
        }
      }
    }
  }
#pragma GCC unroll 4
  for (std::size_t j = 0; j < kVectors; ++j) {
    out[j] = sums_of(d, sums[j][0], sums[j][1], sums[j][2], sums[j][3]);
  }
}

/// As dot_tile of one row of x, for weights that come from memory: they are read in the order they
/// lie in, which is what hardware prefetches best.
template <class W>
HWY_INLINE void dot_stream(const TileWeights& w, const float* x, std::size_t k,
                           hn::Vec<Four> (&out)[1]) {
  const F32 d;
  Vf sums[kTileRows];
#pragma GCC unroll 4
  for (std::size_t r = 0; r < kTileRows; ++r) {
    constexpr std::size_t kChains = 4;
    Vf chains[kChains] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    std::size_t i = 0;
    for (; i + kChains * W::kStep <= k; i += kChains * W::kStep) {
#pragma GCC unroll 4
      for (std::size_t c = 0; c < kChains; ++c) {
        chains[c] = add_step<W>(w.row[r], x, i + c * W::kStep, chains[c]);
      }
      for (std::size_t line = 0; line < W::bytes(kChains * W::kStep); line += 64) {
        hwy::Prefetch(w.row[r] + w.next + W::bytes(i) + line);
      }
    }
    for (; i + W::kStep <= k; i += W::kStep) {
      chains[0] = add_step<W>(w.row[r], x, i, chains[0]);
    }
    if constexpr (kHasTail<W>) {
      if (i < k) {
        chains[0] = hn::MulAdd(W::tail(w.row[r], i, k - i), load_part(d, x + i, k - i), chains[0]);
      }
    }
    sums[r] = hn::Add(hn::Add(chains[0], chains[1]), hn::Add(chains[2], chains[3]));
  }
  out[0] = sums_of(d, sums[0], sums[1], sums[2], sums[3]);
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
