// Dot products of a few rows of weights with a few rows of f32: the sums of a tile stay in
// registers. The order of additions depends on the number of rows of x in a tile, never on threads.
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
  /// Into the second-level cache: the first one has too few misses in flight for memory.
  HWY_INLINE void prefetch(std::size_t offset) const {
#pragma GCC unroll 4
    for (std::size_t r = 0; r < kTileRows; ++r) {
      __builtin_prefetch(row[r] + next + offset, 0, 2);
    }
  }
};

/// Calls piece(i) for each of `count` pieces of `bytes` bytes of every row, and prefetches every
/// line that the next tile reads once.
template <std::size_t kBytes, class Piece>
HWY_INLINE void for_each_piece(const TileWeights& w, std::size_t count, Piece&& piece) {
  constexpr std::size_t kTogether = std::max<std::size_t>(64 / kBytes, 1);
  std::size_t i = 0;
  for (; i + kTogether <= count; i += kTogether) {
    w.prefetch(i * kBytes);
#pragma GCC unroll 4
    for (std::size_t j = 0; j < kTogether; ++j) {
      piece(i + j);
    }
  }
  for (; i < count; ++i) {
    piece(i);
  }
}

/// sum += the products of one piece.
template <class W>
HWY_INLINE Vf add_piece(const std::byte* row, const float* x, std::size_t i, Vf sum) {
  const F32 d;
  const typename W::Piece piece = W::piece(row, i);
  if constexpr (kHasTail<W>) {
    return hn::MulAdd(piece.part(0), hn::LoadU(d, x + i), sum);
  } else {
    Vf block = hn::Mul(piece.unscaled(0), hn::LoadU(d, x + i));
#pragma GCC unroll 8
    for (std::size_t p = 1; p < kParts<W>; ++p) {
      block = hn::MulAdd(piece.unscaled(p), hn::LoadU(d, x + i + p * kLanes), block);
    }
    return hn::MulAdd(piece.scale, block, sum);
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
  for_each_piece<W::bytes(W::kPiece)>(w, k / W::kPiece, [&](std::size_t piece) HWY_ATTR {
    const std::size_t i = piece * W::kPiece;
    if constexpr (kVectors == 1) {
#pragma GCC unroll 4
      for (std::size_t r = 0; r < kTileRows; ++r) {
        sums[0][r] = add_piece<W>(w.row[r], x[0], i, sums[0][r]);
      }
    } else {
      const typename W::Piece pieces[kTileRows] = {W::piece(w.row[0], i), W::piece(w.row[1], i),
                                                   W::piece(w.row[2], i), W::piece(w.row[3], i)};
#pragma GCC unroll 8
      for (std::size_t p = 0; p < kParts<W>; ++p) {
        const Vf weights[kTileRows] = {pieces[0].part(p), pieces[1].part(p), pieces[2].part(p),
                                       pieces[3].part(p)};
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
  });
  if constexpr (kHasTail<W>) {
    if (const std::size_t i = k / W::kPiece * W::kPiece; i < k) {
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

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
