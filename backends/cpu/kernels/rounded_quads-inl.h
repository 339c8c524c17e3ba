// Dot products of q4_0 with rows of x rounded to 8 bits, four blocks at a time, where the processor
// has products of bytes and no sums of them. Products of four rows are added up as integers until a
// vector has a lane for each block of each row: one conversion and one scale for all.
#include "backends/cpu/kernels/rounded_block-inl.h"

#if defined(REPRISE_ROUNDED_QUADS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_ROUNDED_QUADS_INL_H
#undef REPRISE_ROUNDED_QUADS_INL_H
#else
#define REPRISE_ROUNDED_QUADS_INL_H
#endif

#if REPRISE_BYTE_PRODUCTS && !REPRISE_BYTE_SUMS
HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

using QuadSums = hn::FixedTag<float, 8>;

/// Four blocks of x, for any number of rows of weights.
struct RoundedQuad {
  explicit HWY_INLINE RoundedQuad(const QuadX& x)
      : pairs{{load_bytes(x.halves[0][0]), load_bytes(x.halves[1][0]), load_bytes(x.biases[0]),
               _mm256_loadu_ps(x.scales[0])},
              {load_bytes(x.halves[0][2]), load_bytes(x.halves[1][2]), load_bytes(x.biases[2]),
               _mm256_loadu_ps(x.scales[2])}} {}
  struct Pair {
    __m256i low, high, biases;
    __m256 scales;
  };
  Pair pairs[2];
};

/// Of two blocks, each in eight lanes of 16 bits: two of them are 30,480 at most, added up.
HWY_INLINE __m256i products_of_pair(const std::byte* block, const RoundedQuad::Pair& x) {
  const auto integers = [](const std::byte* at) REPRISE_INLINED {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 2));
  };
  const __m256i bytes = _mm256_inserti128_si256(_mm256_castsi128_si256(integers(block)),
                                                integers(block + Q4Weights::kBlockBytes), 1);
  const __m256i mask = _mm256_set1_epi8(15);
  const __m256i low = _mm256_and_si256(bytes, mask);
  const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), mask);
  return _mm256_add_epi16(_mm256_maddubs_epi16(low, x.low), _mm256_maddubs_epi16(high, x.high));
}

/// sum += the scaled products of two blocks of each row: lane 4b + r is block b of row r.
HWY_INLINE __m256 add_pair(const std::byte* const (&row)[kTileRows], std::size_t at,
                           const RoundedQuad::Pair& x, __m256 sum) {
  __m128i scales = _mm_setzero_si128();
  __m256i products[kTileRows];
#pragma GCC unroll 4
  for (std::size_t r = 0; r < kTileRows; ++r) {
    products[r] = products_of_pair(row[r] + at, x);
  }
  scales = _mm_insert_epi16(scales, scale_bits(row[0] + at), 0);
  scales = _mm_insert_epi16(scales, scale_bits(row[1] + at), 1);
  scales = _mm_insert_epi16(scales, scale_bits(row[2] + at), 2);
  scales = _mm_insert_epi16(scales, scale_bits(row[3] + at), 3);
  scales = _mm_insert_epi16(scales, scale_bits(row[0] + at + Q4Weights::kBlockBytes), 4);
  scales = _mm_insert_epi16(scales, scale_bits(row[1] + at + Q4Weights::kBlockBytes), 5);
  scales = _mm_insert_epi16(scales, scale_bits(row[2] + at + Q4Weights::kBlockBytes), 6);
  scales = _mm_insert_epi16(scales, scale_bits(row[3] + at + Q4Weights::kBlockBytes), 7);
  const __m256i sums = _mm256_add_epi32(x.biases, sums_of_pairs(products));
  const __m256 factors = _mm256_mul_ps(_mm256_cvtph_ps(scales), x.scales);
  return _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums), factors, sum);
}

HWY_INLINE hn::Vec<QuadSums> add_quad(const std::byte* const (&row)[kTileRows], std::size_t at,
                                      const RoundedQuad& x, hn::Vec<QuadSums> sum) {
  sum.raw = add_pair(row, at, x.pairs[0], sum.raw);
  return {add_pair(row, at + 2 * Q4Weights::kBlockBytes, x.pairs[1], sum.raw)};
}

/// out[j] = the products of so many blocks, a multiple of four, of each row.
template <class /*W*/, std::size_t kVectors>
HWY_INLINE void multiply_quads(const TileWeights& w, const RoundedRow* x, std::size_t blocks,
                               hn::Vec<Four> (&out)[kVectors]) {
  const QuadSums d;
  hn::Vec<QuadSums> sums[kVectors];
#pragma GCC unroll 4
  for (std::size_t j = 0; j < kVectors; ++j) {
    sums[j] = hn::Zero(d);
  }
  constexpr std::size_t kBytes = 4 * Q4Weights::kBlockBytes;
  for_each_piece<kBytes, kFirstCache>(w, blocks / 4, [&](std::size_t quad) REPRISE_INLINED {
#pragma GCC unroll 4
    for (std::size_t j = 0; j < kVectors; ++j) {
      sums[j] = add_quad(w.row, quad * kBytes, RoundedQuad(x[j].quads[quad]), sums[j]);
    }
  });
#pragma GCC unroll 4
  for (std::size_t j = 0; j < kVectors; ++j) {
    out[j] = sum_of_blocks(d, sums[j]);
  }
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
