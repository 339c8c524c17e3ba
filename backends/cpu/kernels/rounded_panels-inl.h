// Panels of quantised weights as bytes, for rows of x rounded to 8 bits: with products of bytes,
// three times the multiplications of f32. Only for processors that have them.
#include "backends/cpu/kernels/panels-inl.h"
#include "backends/cpu/kernels/rounded_super-inl.h"

#if defined(REPRISE_ROUNDED_PANELS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_ROUNDED_PANELS_INL_H
#undef REPRISE_ROUNDED_PANELS_INL_H
#else
#define REPRISE_ROUNDED_PANELS_INL_H
#endif

#if REPRISE_BYTE_SUMS
HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

/// Whether parts have minimums, which are taken off their products.
template <class W>
inline constexpr bool kHasMinimums = requires {
  W::kFifthBit;
};
template <class W>
inline constexpr bool kHasRoundedPanels = !kHasSuperBlocks<W> || kHasMinimums<W>;

/// A block of every column: four bytes of each, then the next four...; W::kBias added.
struct PanelBlock {
  static constexpr std::size_t kGroups = kBlock / 4;
  std::uint32_t bytes[kGroups][kPanelColumns];
  float scales[kPanelColumns];
  float minimums[kPanelColumns];  // where there are some

  HWY_INLINE void put(std::size_t column, __m256i block, float scale) {
    alignas(32) std::uint32_t groups[kGroups];
    _mm256_store_si256(reinterpret_cast<__m256i*>(groups), block);
    for (std::size_t g = 0; g < kGroups; ++g) {
      bytes[g][column] = groups[g];
    }
    scales[column] = scale;
  }
};

/// Blocks of k in a panel: 40 KiB of them.
constexpr std::size_t kPanelBlocks = 32;
/// Rows of x in a tile: integer and f32 sums of 6 rows fill 24 of 32 registers.
constexpr std::size_t kRoundedHeight = 6;

/// Blocks [first, first + blocks) of a row of weights become a column.
template <class W>
HWY_INLINE void pack_column(const std::byte* row, std::size_t first, std::size_t blocks,
                            std::size_t column, PanelBlock* panel) {
  if constexpr (kHasMinimums<W>) {
    for (std::size_t b = 0; b < blocks; b += kSuperParts) {
      const typename W::Piece block = W::piece(row, (first + b) * kBlock);
      for (std::size_t p = 0; p < kSuperParts; ++p) {
        const auto* part = reinterpret_cast<const __m256i*>(block.q + p * kBlock);
        panel[b + p].put(column, _mm256_load_si256(part), block.scales[p]);
        panel[b + p].minimums[column] = block.minimums[p];
      }
    }
  } else {
    const std::byte* block = row + first * W::kBlockBytes;
    for (std::size_t b = 0; b < blocks; ++b, block += W::kBlockBytes) {
      panel[b].put(column, W::biased(block), hn::GetLane(block_scale(block)));
    }
  }
}

template <class W>
HWY_NOINLINE void pack_blocks(const std::byte* w, std::size_t w_row, std::size_t rows,
                              std::size_t first, std::size_t blocks, PanelBlock* panel) {
  for (std::size_t column = 0; column < kPanelColumns; ++column) {
    pack_column<W>(w + std::min(column, rows - 1) * w_row, first, blocks, column, panel);
  }
}

/// As multiply_tile, of rows that are `x_row` bytes apart and have k elements, from block `first`.
template <std::size_t kRows, bool kMinimums>
HWY_NOINLINE void multiply_blocks(std::byte* x, std::size_t k, std::size_t first,
                                  const PanelBlock* panel, std::size_t blocks, float* y,
                                  std::size_t y_row, std::size_t columns) {
  const F32 d;
  const std::size_t x_row = RoundedRow::bytes(k);
  Vf sums[kRows][2];
#pragma GCC unroll 8
  for (std::size_t r = 0; r < kRows; ++r) {
    sums[r][0] = hn::Zero(d);
    sums[r][1] = hn::Zero(d);
  }
  for (std::size_t b = 0; b < blocks; ++b) {
    const RoundedRow row(x, k);
    const auto of_row = [x_row](const auto* in_first_row, std::size_t r) REPRISE_INLINED {
      return reinterpret_cast<const std::byte*>(in_first_row) + r * x_row;
    };
    __m512i products[kRows][2];
#pragma GCC unroll 8
    for (std::size_t r = 0; r < kRows; ++r) {
      std::int32_t bias = 0;
      if constexpr (!kMinimums) {
        std::memcpy(&bias, of_row(row.biases + first + b, r), sizeof(bias));
      }
      products[r][0] = products[r][1] = _mm512_set1_epi32(bias);
    }
#pragma GCC unroll 8
    for (std::size_t g = 0; g < PanelBlock::kGroups; ++g) {
      const __m512i left = _mm512_load_si512(panel[b].bytes[g]);
      const __m512i right = _mm512_load_si512(panel[b].bytes[g] + kLanes);
#pragma GCC unroll 8
      for (std::size_t r = 0; r < kRows; ++r) {
        std::int32_t four;
        std::memcpy(&four, of_row(row.q + (first + b) * kBlock + g * 4, r), sizeof(four));
        const __m512i bytes = _mm512_set1_epi32(four);
        products[r][0] = add_products(products[r][0], left, bytes);
        products[r][1] = add_products(products[r][1], right, bytes);
      }
    }
    const Vf left = hn::Load(d, panel[b].scales);
    const Vf right = hn::Load(d, panel[b].scales + kLanes);
#pragma GCC unroll 8
    for (std::size_t r = 0; r < kRows; ++r) {
      float value;
      std::memcpy(&value, of_row(row.scales + first + b, r), sizeof(value));
      const Vf scale = hn::Set(d, value);
      sums[r][0] =
          hn::MulAdd(Vf{_mm512_cvtepi32_ps(products[r][0])}, hn::Mul(left, scale), sums[r][0]);
      sums[r][1] =
          hn::MulAdd(Vf{_mm512_cvtepi32_ps(products[r][1])}, hn::Mul(right, scale), sums[r][1]);
      if constexpr (kMinimums) {
        std::int32_t total;
        std::memcpy(&total, of_row(row.biases + first + b, r), sizeof(total));
        const Vf taken = hn::Set(d, value * static_cast<float>(total));
        sums[r][0] = hn::NegMulAdd(hn::Load(d, panel[b].minimums), taken, sums[r][0]);
        sums[r][1] = hn::NegMulAdd(hn::Load(d, panel[b].minimums + kLanes), taken, sums[r][1]);
      }
    }
  }
  store_tile<kRows>(sums, y, y_row, columns, first != 0);
}

using BlocksFunction = void (*)(std::byte*, std::size_t, std::size_t, const PanelBlock*,
                                std::size_t, float*, std::size_t, std::size_t);
template <bool kMinimums>
constexpr BlocksFunction kBlocksFunctions[kRoundedHeight] = {
    multiply_blocks<1, kMinimums>, multiply_blocks<2, kMinimums>, multiply_blocks<3, kMinimums>,
    multiply_blocks<4, kMinimums>, multiply_blocks<5, kMinimums>, multiply_blocks<6, kMinimums>};

template <class W>
HWY_INLINE void multiply_rounded_rows(const PanelRows& part) {
  const Product& p = part.product;
  const Matrices at(p, part.batch);
  auto* panel = reinterpret_cast<PanelBlock*>(part.work.own);
  const auto k = static_cast<std::size_t>(p.k);
  const auto y_row = static_cast<std::size_t>(p.y_row);
  const auto w_row = static_cast<std::size_t>(p.w_row);
  std::byte* x =
      part.work.shared + static_cast<std::size_t>(part.batch * p.n) * RoundedRow::bytes(k);
  for (std::size_t first = 0; first < k / kBlock; first += kPanelBlocks) {
    const std::size_t blocks = std::min(kPanelBlocks, k / kBlock - first);
    pack_blocks<W>(at.w + part.first_column * w_row, w_row, part.columns(), first, blocks, panel);
    for (std::size_t row = part.first_row; row < part.end_row; row += kRoundedHeight) {
      const std::size_t rows = std::min(kRoundedHeight, part.end_row - row);
      kBlocksFunctions<kHasMinimums<W>>[rows - 1](x + row * RoundedRow::bytes(k), k, first, panel,
                                                  blocks, at.y + row * y_row + part.first_column,
                                                  y_row, part.columns());
    }
  }
  add_residual(part, at);
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
