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

/// Where the bytes of four blocks lie, of 64 bytes and of 64 that begin 8 later.
struct QuadBytes {
  constexpr QuadBytes() {
    for (std::size_t i = 0; i < std::size(at); ++i) {
      const std::size_t from = i / 16 * Q4Weights::kBlockBytes + 2 + i % 16;
      at[i] = static_cast<std::uint8_t>(from < 64 ? from : 64 + from - 8);
    }
  }
  alignas(64) std::uint8_t at[64]{};
};
inline constexpr QuadBytes kQuadBytes;

/// Four lanes for each of four blocks.
HWY_INLINE __m512i lanes_of_quad() {
  return _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
}

/// Four blocks of x, for any number of rows of weights.
struct RoundedQuad {
  HWY_INLINE RoundedQuad(const RoundedRow& x, std::size_t block) {
    const __m512i first = _mm512_loadu_si512(x.q + block * kBlock);
    const __m512i second = _mm512_loadu_si512(x.q + (block + 2) * kBlock);
    low = _mm512_permutex2var_epi64(first, _mm512_setr_epi64(0, 1, 4, 5, 8, 9, 12, 13), second);
    high = _mm512_permutex2var_epi64(first, _mm512_setr_epi64(2, 3, 6, 7, 10, 11, 14, 15), second);
    const __m128i of_blocks = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x.biases + block));
    biases =
        _mm512_maskz_permutexvar_epi32(0x1111, lanes_of_quad(), _mm512_castsi128_si512(of_blocks));
    scales = _mm512_permutexvar_ps(lanes_of_quad(),
                                   _mm512_castps128_ps512(_mm_loadu_ps(x.scales + block)));
  }
  __m512i low, high;  // elements 0 to 15 of each block, 16 to 31
  __m512i biases;
  __m512 scales;
};

HWY_INLINE __m512 add_quad(const std::byte* block, const RoundedQuad& x, __m512 sum) {
  const __m512i first = _mm512_loadu_si512(block);
  const __m512i bytes = _mm512_permutex2var_epi8(first, _mm512_load_si512(kQuadBytes.at),
                                                 _mm512_loadu_si512(block + 8));
  const __m512i mask = _mm512_set1_epi8(15);
  const __m512i low = _mm512_and_si512(bytes, mask);
  const __m512i high = _mm512_and_si512(_mm512_srli_epi16(bytes, 4), mask);
  const __m512i products = add_products(add_products(x.biases, low, x.low), high, x.high);
  constexpr int k0 = 0, k1 = Q4Weights::kBlockBytes / 2 * 0x10001;  // words, two by two
  const __m512i halves = _mm512_permutexvar_epi16(
      _mm512_setr_epi32(k0, k0, k1, k1, 2 * k1, 2 * k1, 3 * k1, 3 * k1, 0, 0, 0, 0, 0, 0, 0, 0),
      first);
  const __m512 scales = _mm512_cvtph_ps(_mm512_castsi512_si256(halves));
  return _mm512_fmadd_ps(_mm512_cvtepi32_ps(products), _mm512_mul_ps(scales, x.scales), sum);
}

/// sums[j][r] += the products of so many blocks, a multiple of four.
template <std::size_t kVectors>
HWY_INLINE void add_quads(const TileWeights& w, const RoundedRow* x, std::size_t blocks,
                          hn::Vec<BlockSums> (&sums)[kVectors][kTileRows]) {
  __m512 of_quads[kVectors][kTileRows];
#pragma GCC unroll 4
  for (std::size_t j = 0; j < kVectors; ++j) {
#pragma GCC unroll 4
    for (std::size_t r = 0; r < kTileRows; ++r) {
      of_quads[j][r] = _mm512_setzero_ps();
    }
  }
  constexpr std::size_t kBytes = 4 * Q4Weights::kBlockBytes;
  for_each_piece<kBytes>(w, blocks / 4, [&](std::size_t quad) REPRISE_INLINED {
#pragma GCC unroll 4
    for (std::size_t j = 0; j < kVectors; ++j) {
      const RoundedQuad four(x[j], 4 * quad);
#pragma GCC unroll 4
      for (std::size_t r = 0; r < kTileRows; ++r) {
        of_quads[j][r] = add_quad(w.row[r] + quad * kBytes, four, of_quads[j][r]);
      }
    }
  });
#pragma GCC unroll 4
  for (std::size_t j = 0; j < kVectors; ++j) {
#pragma GCC unroll 4
    for (std::size_t r = 0; r < kTileRows; ++r) {
      const __m512 sum = of_quads[j][r];
      sums[j][r].raw = _mm256_add_ps(_mm512_castps512_ps256(sum), _mm512_extractf32x8_ps(sum, 1));
    }
  }
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
