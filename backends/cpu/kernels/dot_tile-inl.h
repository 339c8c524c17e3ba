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

/// __builtin_prefetch's names of caches.
constexpr int kFirstCache = 3, kSecondCache = 2;
/// Where the weights of the next tile are prefetched to. The first-level cache has too few misses
/// in flight for those that are read faster than memory answers.
template <class W, std::size_t kVectors>
constexpr int kPrefetchTo =
    kVectors == 1 && !std::is_same_v<W, F32Weights> ? kFirstCache : kSecondCache;

/// Rows of weights in a tile, and the distance to the ones that the next tile reads.
struct TileWeights {
  const std::byte* row[kTileRows];
  std::int64_t next;
  template <int kCache>
  HWY_INLINE void prefetch(std::size_t offset) const {
#pragma GCC unroll 4
    for (std::size_t r = 0; r < kTileRows; ++r) {
      __builtin_prefetch(row[r] + next + offset, 0, kCache);
    }
  }
};

/// The rows of a matrix by tiles of a row of each quarter: tile after tile is four long streams,
/// which memory answers faster than one row after another in four places.
class TiledRows {
 public:
  explicit HWY_INLINE TiledRows(std::int64_t rows)
      : rows_(rows), tiles_((rows + std::int64_t{kTileRows} - 1) / std::int64_t{kTileRows}) {}
  /// Also how far the rows of a tile are apart.
  std::int64_t tiles() const { return tiles_; }
  /// Whether a tile has its i-th row: the last ones have fewer. A division would take as long as
  /// the products of a short row.
  HWY_INLINE bool has(std::int64_t tile, std::size_t i) const {
    return tile + static_cast<std::int64_t>(i) * tiles_ < rows_;
  }
  /// Behind the rows that there are, the last one is repeated.
  HWY_INLINE TileWeights weights(std::int64_t tile, const std::byte* w, std::int64_t w_row) const {
    constexpr std::int64_t kAhead = 2048;  // bytes: far enough for memory to answer
    TileWeights result{.row = {w + tile * w_row}, .next = kAhead};
    for (std::size_t i = 1; i < kTileRows; ++i) {
      result.row[i] = result.row[i - 1] + (has(tile, i) ? tiles_ * w_row : 0);
    }
    return result;
  }
  /// y, at the first row of a tile, gets its sums; and what it is to be added to, unless null.
  HWY_INLINE void store(std::int64_t tile, hn::Vec<Four> sums, const float* residual,
                        float* y) const {
    HWY_ALIGN float values[kTileRows];
    hn::Store(sums, Four(), values);
    for (std::size_t i = 0; i < kTileRows && has(tile, i); ++i) {
      const std::int64_t at = static_cast<std::int64_t>(i) * tiles_;
      y[at] = residual == nullptr ? values[i] : residual[at] + values[i];
    }
  }

 private:
  std::int64_t rows_, tiles_;
};

/// Calls piece(i) for each of `count` pieces of kBytes bytes of every row. Before each kTogether of
/// them it prefetches what the next tile reads: by default every line once.
template <std::size_t kBytes, int kCache,
          std::size_t kTogether = std::max<std::size_t>(64 / kBytes, 1), class Piece>
HWY_INLINE void for_each_piece(const TileWeights& w, std::size_t count, Piece&& piece) {
  std::size_t i = 0;
  for (; i + kTogether <= count; i += kTogether) {
    w.prefetch<kCache>(i * kBytes);
#pragma GCC unroll 4
    for (std::size_t j = 0; j < kTogether; ++j) {
      piece(i + j);
    }
  }
  for (; i < count; ++i) {
    piece(i);
  }
}

/// sums[j] += the products of one piece of a row of weights with x[j], in an order that does not
/// depend on their number.
template <class W, std::size_t kVectors>
HWY_INLINE void add_piece(const std::byte* row, const float* const* x, std::size_t i,
                          Vf (&sums)[kVectors]) {
  const F32 d;
  const typename W::Piece piece = W::piece(row, i);
  if constexpr (!kHasScale<W>) {
#pragma GCC unroll 8
    for (std::size_t p = 0; p < kParts<W>; ++p) {
      const Vf weights = piece.part(p);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < kVectors; ++j) {
        sums[j] = hn::MulAdd(weights, hn::LoadU(d, x[j] + i + p * kLanes), sums[j]);
      }
    }
  } else {
    Vf blocks[kVectors];
    const Vf first = piece.unscaled(0);
#pragma GCC unroll 4
    for (std::size_t j = 0; j < kVectors; ++j) {
      blocks[j] = hn::Mul(first, hn::LoadU(d, x[j] + i));
    }
#pragma GCC unroll 8
    for (std::size_t p = 1; p < kParts<W>; ++p) {
      const Vf part = piece.unscaled(p);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < kVectors; ++j) {
        blocks[j] = hn::MulAdd(part, hn::LoadU(d, x[j] + i + p * kLanes), blocks[j]);
      }
    }
#pragma GCC unroll 4
    for (std::size_t j = 0; j < kVectors; ++j) {
      sums[j] = hn::MulAdd(piece.scale, blocks[j], sums[j]);
    }
  }
}

/// In which order the products of a tile are added up.
enum class TileOrder {
  fastest,  // depends on whether the tile has one row of x or more
  alike,    // the one of a single row, always
};

/// out[j] = {dot(x[j], w.row[0]), ..., dot(x[j], w.row[3])}, k elements each.
template <class W, std::size_t kVectors, TileOrder kOrder = TileOrder::fastest>
HWY_INLINE void dot_tile(const TileWeights& w, const float* const* x, std::size_t k,
                         hn::Vec<Four> (&out)[kVectors]) {
  const F32 d;
  Vf sums[kTileRows][kVectors];
#pragma GCC unroll 4
  for (std::size_t r = 0; r < kTileRows; ++r) {
#pragma GCC unroll 4
    for (std::size_t j = 0; j < kVectors; ++j) {
      sums[r][j] = hn::Zero(d);
    }
  }
  // Pieces with scales and minimums of their own fill the registers one at a time.
  constexpr std::size_t kBytes = W::bytes(W::kPiece);
  constexpr std::size_t kTogether =
      kHasScale<W> || kHasTail<W> ? std::max<std::size_t>(64 / kBytes, 1) : 1;
  for_each_piece<kBytes, kPrefetchTo<W, kVectors>, kTogether>(
      w, k / W::kPiece, [&](std::size_t piece) REPRISE_INLINED {
        const std::size_t i = piece * W::kPiece;
        if constexpr (kVectors == 1 || kOrder == TileOrder::alike) {
#pragma GCC unroll 4
          for (std::size_t r = 0; r < kTileRows; ++r) {
            add_piece<W, kVectors>(w.row[r], x, i, sums[r]);
          }
        } else {
          const typename W::Piece pieces[kTileRows] = {W::piece(w.row[0], i), W::piece(w.row[1], i),
                                                       W::piece(w.row[2], i),
                                                       W::piece(w.row[3], i)};
#pragma GCC unroll 8
          for (std::size_t p = 0; p < kParts<W>; ++p) {
            const Vf weights[kTileRows] = {pieces[0].part(p), pieces[1].part(p), pieces[2].part(p),
                                           pieces[3].part(p)};
#pragma GCC unroll 4
            for (std::size_t j = 0; j < kVectors; ++j) {
              const Vf row = hn::LoadU(d, x[j] + i + p * kLanes);
#pragma GCC unroll 4
              for (std::size_t r = 0; r < kTileRows; ++r) {
                sums[r][j] = hn::MulAdd(weights[r], row, sums[r][j]);
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
          sums[r][j] = hn::MulAdd(weights[r], row, sums[r][j]);
        }
      }
    }
  }
#pragma GCC unroll 4
  for (std::size_t j = 0; j < kVectors; ++j) {
    out[j] = sums_of(d, sums[0][j], sums[1][j], sums[2][j], sums[3][j]);
  }
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
