// Dot products of q4_0 with rows of x rounded to 8 bits, four blocks at a time, where the processor
// has products of bytes: their 72 bytes become 128 integers with one permutation.
#include "backends/cpu/kernels/rounded_block-inl.h"

#if defined(REPRISE_ROUNDED_QUADS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_ROUNDED_QUADS_INL_H
#undef REPRISE_ROUNDED_QUADS_INL_H
#else
#define REPRISE_ROUNDED_QUADS_INL_H
#endif

#if REPRISE_BYTE_PRODUCTS
HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

/// Where the bytes of four blocks lie, of 64 bytes and of the 8 behind them.
struct QuadBytes {
  constexpr QuadBytes() {
    for (std::size_t i = 0; i < std::size(at); ++i) {
      at[i] = static_cast<std::uint8_t>(i / 16 * Q4Weights::kBlockBytes + 2 + i % 16);
    }
  }
  alignas(64) std::uint8_t at[64]{};
};
inline constexpr QuadBytes kQuadBytes;

/// Four blocks of x, for any number of rows of weights.
struct RoundedQuad {
  explicit HWY_INLINE RoundedQuad(const QuadX& x)
      : low(_mm512_loadu_si512(x.halves[0])),
        high(_mm512_loadu_si512(x.halves[1])),
        biases(_mm512_loadu_si512(x.biases)),
        scales(_mm512_loadu_ps(x.scales)) {}
  __m512i low, high, biases;
  __m512 scales;
};

/// The integer of each of four blocks that their scale belongs to: in four lanes a block.
HWY_INLINE __m512i products_of_quad(const std::byte* block, __m512i first, const RoundedQuad& x) {
  // Loads of 64 bytes cross a line nearly always.
  const __m128i last = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(block + 64));
  const __m512i bytes = _mm512_permutex2var_epi8(first, _mm512_load_si512(kQuadBytes.at),
                                                 _mm512_castsi128_si512(last));
  const __m512i mask = _mm512_set1_epi8(15);
  const __m512i low = _mm512_and_si512(bytes, mask);
  const __m512i high = _mm512_and_si512(_mm512_srli_epi16(bytes, 4), mask);
  return add_products(add_products(x.biases, low, x.low), high, x.high);
}

/// sum += the scaled products of four blocks of each row: lane 4b + r is block b of row r.
HWY_INLINE __m512 add_quad(const std::byte* const (&row)[kTileRows], std::size_t at,
                           const RoundedQuad& x, __m512 sum) {
  constexpr int k1 = Q4Weights::kBlockBytes / 2 * 0x10001;  // words, two by two
  const __m512i of_scales =
      _mm512_setr_epi32(0, 0, k1, k1, 2 * k1, 2 * k1, 3 * k1, 3 * k1, 0, 0, 0, 0, 0, 0, 0, 0);
  __m512i scales = _mm512_setzero_si512();
  __m512i products[kTileRows];
#pragma GCC unroll 4
  for (std::size_t r = 0; r < kTileRows; ++r) {
    const __m512i first = _mm512_loadu_si512(row[r] + at);
    scales = _mm512_mask_permutexvar_epi16(scales, 0x1111U << r, of_scales, first);
    products[r] = products_of_quad(row[r] + at, first, x);
  }
  const auto halved = [](__m512i a, __m512i b) REPRISE_INLINED {
    return _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
  };
  const __m512i a = halved(products[0], products[1]);
  const __m512i b = halved(products[2], products[3]);
  const __m512i sums = _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
  const __m512 factors = _mm512_mul_ps(_mm512_cvtph_ps(_mm512_castsi512_si256(scales)), x.scales);
  return _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums), factors, sum);
}

/// out[j] = the products of so many blocks, a multiple of four, of each row.
template <std::size_t kVectors>
HWY_INLINE void multiply_quads(const TileWeights& w, const RoundedRow* x, std::size_t blocks,
                               hn::Vec<Four> (&out)[kVectors]) {
  __m512 sums[kVectors];
#pragma GCC unroll 4
  for (std::size_t j = 0; j < kVectors; ++j) {
    sums[j] = _mm512_setzero_ps();
  }
  constexpr std::size_t kBytes = 4 * Q4Weights::kBlockBytes;
  for_each_piece<kBytes>(w, blocks / 4, [&](std::size_t quad) REPRISE_INLINED {
#pragma GCC unroll 4
    for (std::size_t j = 0; j < kVectors; ++j) {
      sums[j] = add_quad(w.row, quad * kBytes, RoundedQuad(x[j].quads[quad]), sums[j]);
    }
  });
#pragma GCC unroll 4
  for (std::size_t j = 0; j < kVectors; ++j) {
    out[j] = sum_of_blocks(hn::CappedTag<float, 16>(), hn::Vec<hn::CappedTag<float, 16>>{sums[j]});
  }
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
