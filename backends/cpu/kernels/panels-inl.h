// Products with many rows: weights are decoded into panels of two vectors of columns, k slowest,
// and multiplied with tiles of rows whose sums stay in registers. After Goto and van de Geijn,
// "Anatomy of High-Performance Matrix Multiplication", 2008; x needs no packing because one element
// of it is broadcast at a time.
#include <algorithm>

#include "backends/cpu/kernels/product.h"
#include "backends/cpu/kernels/weights-inl.h"

#if defined(REPRISE_PANELS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_PANELS_INL_H
#undef REPRISE_PANELS_INL_H
#else
#define REPRISE_PANELS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

constexpr std::size_t kPanelColumns = 2 * kLanes;
/// Depth of a panel: it fits into the first-level cache, or nearly.
constexpr std::size_t kPanelDepth = 256;
/// Rows of x in a tile: 24 or 12 sums in 32 or 16 registers.
constexpr std::size_t kTileHeight = HWY_TARGET <= HWY_AVX3 ? 12 : 6;
/// Rows of x that are multiplied before the next: they stay in the second-level cache.
constexpr std::size_t kRowBlock = 16 * kTileHeight;

/// Block b of the vector to to + b * 4 * stride.
template <class D>
HWY_INLINE void store_blocks(D d, hn::Vec<D> v, float* to, std::size_t stride) {
  if constexpr (hn::MaxLanes(d) == 4) {
    hn::Store(v, d, to);
  } else {
    const hn::Half<D> half;
    store_blocks(half, hn::LowerHalf(half, v), to, stride);
    store_blocks(half, hn::UpperHalf(half, v), to + hn::MaxLanes(half) * stride, stride);
  }
}

/// Four rows of one vector each, transposed into four columns of the panel.
HWY_INLINE void pack_four(Vf a, Vf b, Vf c, Vf e, float* to) {
  Vf v[4] = {a, b, c, e};
  transpose_blocks(F32(), v);
#pragma GCC unroll 4
  for (std::size_t i = 0; i < 4; ++i) {
    store_blocks(F32(), v[i], to + i * kPanelColumns, kPanelColumns);
  }
}

/// Columns [0, kPanelColumns) of the panel are rows of w, the last one repeated behind `rows`;
/// elements [first, first + depth) of k.
template <class W>
HWY_NOINLINE void pack(const std::byte* w, std::size_t w_row, std::size_t rows, std::size_t first,
                       std::size_t depth, float* panel) {
  for (std::size_t r = 0; r < kPanelColumns; r += 4) {
    const std::byte* from[4];
    for (std::size_t i = 0; i < 4; ++i) {
      from[i] = w + std::min(r + i, rows - 1) * w_row;
    }
    std::size_t k = 0;
    for (; k + W::kPiece <= depth; k += W::kPiece) {
      const typename W::Piece pieces[4] = {
          W::piece(from[0], first + k), W::piece(from[1], first + k), W::piece(from[2], first + k),
          W::piece(from[3], first + k)};
      for (std::size_t p = 0; p < kParts<W>; ++p) {
        pack_four(pieces[0].part(p), pieces[1].part(p), pieces[2].part(p), pieces[3].part(p),
                  panel + (k + p * kLanes) * kPanelColumns + r);
      }
    }
    if constexpr (kHasTail<W>) {
      if (k < depth) {
        HWY_ALIGN float last[kLanes * kPanelColumns];
        pack_four(W::tail(from[0], first + k, depth - k), W::tail(from[1], first + k, depth - k),
                  W::tail(from[2], first + k, depth - k), W::tail(from[3], first + k, depth - k),
                  last);
        for (std::size_t i = 0; k + i < depth; ++i) {
          std::copy_n(last + i * kPanelColumns, 4, panel + (k + i) * kPanelColumns + r);
        }
      }
    }
  }
}

/// y[0, kRows) += or = sums, `columns` of them.
template <std::size_t kRows, std::size_t kHalves>
HWY_INLINE void store_tile(const Vf (&sums)[kRows][kHalves], float* y, std::size_t y_row,
                           std::size_t columns, bool add) {
  const F32 d;
#pragma GCC unroll 16
  for (std::size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (std::size_t half = 0; half < kHalves; ++half) {
      const std::size_t first = half * kLanes;
      if (columns > first) {
        float* to = y + r * y_row + first;
        const std::size_t left = columns - first;
        const Vf before = add ? load_up_to(d, to, left) : hn::Zero(d);
        store_up_to(d, hn::Add(before, sums[r][half]), to, left);
      }
    }
  }
}

/// y[0, kRows) += or = x[0, kRows) * the first halves of the panel, `columns` of them.
template <std::size_t kRows, std::size_t kHalves>
HWY_NOINLINE void multiply_tile(const float* x, std::size_t x_row, const float* panel,
                                std::size_t depth, float* y, std::size_t y_row, std::size_t columns,
                                bool add) {
  const F32 d;
  Vf sums[kRows][kHalves];
#pragma GCC unroll 16
  for (std::size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (std::size_t half = 0; half < kHalves; ++half) {
      sums[r][half] = hn::Zero(d);
    }
  }
  for (std::size_t k = 0; k < depth; ++k) {
    const Vf left = hn::Load(d, panel + k * kPanelColumns);
    [[maybe_unused]] const Vf right =
        hn::Load(d, panel + k * kPanelColumns + (kHalves - 1) * kLanes);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < kRows; ++r) {
      const Vf one = hn::Set(d, x[r * x_row + k]);
      sums[r][0] = hn::MulAdd(one, left, sums[r][0]);
      if constexpr (kHalves == 2) {
        sums[r][1] = hn::MulAdd(one, right, sums[r][1]);
      }
    }
  }
  store_tile(sums, y, y_row, columns, add);
}

using TileFunction = void (*)(const float*, std::size_t, const float*, std::size_t, float*,
                              std::size_t, std::size_t, bool);

template <std::size_t kHalves, std::size_t... kRows>
constexpr std::array<TileFunction, sizeof...(kRows)> tile_functions(
    std::index_sequence<kRows...> /*rows*/) {
  return {multiply_tile<kRows + 1, kHalves>...};
}
constexpr auto kHalfTiles = tile_functions<1>(std::make_index_sequence<kTileHeight>());
constexpr auto kWholeTiles = tile_functions<2>(std::make_index_sequence<kTileHeight>());

/// multiply_tile() of so many rows and columns.
inline TileFunction tile_function(std::size_t rows, std::size_t columns) {
  return (columns <= kLanes ? kHalfTiles : kWholeTiles)[rows - 1];
}

/// Row blocks of a panel: the items of one panel follow one another.
inline std::int64_t row_blocks(const Product& p) {
  return (p.n + std::int64_t{kRowBlock} - 1) / std::int64_t{kRowBlock};
}
inline std::int64_t panels(const Product& p) {
  return (p.m + std::int64_t{kPanelColumns} - 1) / std::int64_t{kPanelColumns};
}

/// What is computed at once: some rows of x times one panel's rows of w.
struct PanelRows {
  const Work& work;
  const Product& product;
  std::int64_t batch;  // index of the leading dimensions
  std::size_t first_column, first_row, end_row;

  std::size_t columns() const {
    return std::min(kPanelColumns, static_cast<std::size_t>(product.m) - first_column);
  }
};

/// Adds the residual to rows of y whose sums are complete.
HWY_INLINE void add_residual(const PanelRows& part, const Matrices& at) {
  if (at.residual == nullptr) {
    return;
  }
  const F32 d;
  const auto y_row = static_cast<std::size_t>(part.product.y_row);
  const auto residual_row = static_cast<std::size_t>(part.product.residual_row);
  for (std::size_t row = part.first_row; row < part.end_row; ++row) {
    const float* residual = at.residual + row * residual_row + part.first_column;
    float* y = at.y + row * y_row + part.first_column;
    for (std::size_t i = 0; i < part.columns(); i += kLanes) {
      const std::size_t left = part.columns() - i;
      const Vf sum = load_up_to(d, y + i, left);
      store_up_to(d, hn::Add(load_up_to(d, residual + i, left), sum), y + i, left);
    }
  }
}

template <class W>
HWY_INLINE void multiply_rows(const PanelRows& part) {
  const Product& p = part.product;
  const Matrices at(p, part.batch);
  auto* panel = reinterpret_cast<float*>(part.work.own);
  const auto k = static_cast<std::size_t>(p.k);
  const auto x_row = static_cast<std::size_t>(p.x_row);
  const auto y_row = static_cast<std::size_t>(p.y_row);
  const auto w_row = static_cast<std::size_t>(p.w_row);
  for (std::size_t depth = 0; depth < k; depth += kPanelDepth) {
    const std::size_t this_depth = std::min(kPanelDepth, k - depth);
    pack<W>(at.w + part.first_column * w_row, w_row, part.columns(), depth, this_depth, panel);
    for (std::size_t row = part.first_row; row < part.end_row; row += kTileHeight) {
      const std::size_t rows = std::min(kTileHeight, part.end_row - row);
      tile_function(rows, part.columns())(at.x + row * x_row + depth, x_row, panel, this_depth,
                                          at.y + row * y_row + part.first_column, y_row,
                                          part.columns(), depth != 0);
    }
  }
  add_residual(part, at);
}

/// Items are row blocks of panels of the leading dimensions, in that order from fast to slow.
template <void (*multiply)(const PanelRows&)>
void run_panels(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& p = work.as<Product>();
  const std::int64_t blocks = row_blocks(p);
  while (first < end) {
    const std::int64_t panel = first / blocks;
    const std::int64_t last = std::min(end, (panel + 1) * blocks);
    multiply({.work = work,
              .product = p,
              .batch = panel / panels(p),
              .first_column = static_cast<std::size_t>(panel % panels(p)) * kPanelColumns,
              .first_row = static_cast<std::size_t>(first % blocks) * kRowBlock,
              .end_row = std::min(static_cast<std::size_t>(p.n),
                                  static_cast<std::size_t>(last - panel * blocks) * kRowBlock)});
    first = last;
  }
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
