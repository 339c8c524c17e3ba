// Products of q4_K, q5_K and q6_K with rows of x rounded to 8 bits, where the processor has
// products of bytes: of unpacked integers, a part of a super-block at a time.
#include "backends/cpu/kernels/rounded_block-inl.h"
#include "backends/cpu/kernels/super_blocks-inl.h"

#if defined(REPRISE_SUPER_PRODUCTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_SUPER_PRODUCTS_INL_H
#undef REPRISE_SUPER_PRODUCTS_INL_H
#else
#define REPRISE_SUPER_PRODUCTS_INL_H
#endif

#if REPRISE_BYTE_PRODUCTS && !REPRISE_BYTE_SUMS
HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

/// Sums of a row of weights so far.
struct SuperSums {
  HWY_INLINE SuperSums() : products(_mm256_setzero_ps()), minimums(_mm256_setzero_ps()) {}
  HWY_INLINE hn::Vec<BlockSums> total() const { return {_mm256_sub_ps(products, minimums)}; }
  __m256 products, minimums;
};

/// A super-block of x, for any number of rows of weights.
template <class W>
struct SuperX;

/// Scales of the eight parts, and the factors of minimums.
template <DType kType>
struct SuperX<KMinWeights<kType>> {
  HWY_INLINE SuperX(const RoundedRow& row, std::size_t block)
      : q(row.q + block * kSuperBlock), scales(_mm256_loadu_ps(row.scales + block * kSuperParts)) {
    const __m256i sums = load_bytes(row.biases + block * kSuperParts);
    totals = _mm256_mul_ps(scales, _mm256_cvtepi32_ps(sums));
  }
  HWY_INLINE __m256i pairs(__m256i integers, std::size_t part) const {
    return _mm256_maddubs_epi16(integers, load_bytes(q + part * kBlock));
  }
  const std::int8_t* q;
  __m256 scales, totals;
};

/// Scales of four parts, twice; what makes up for weights that are 32 too large.
template <>
struct SuperX<Q6KWeights> {
  HWY_INLINE SuperX(const RoundedRow& row, std::size_t block) : q(row.q + block * kSuperBlock) {
    const auto* of_parts = reinterpret_cast<const __m128*>(row.scales + block * kSuperParts);
    scales[0] = _mm256_broadcast_ps(of_parts);
    scales[1] = _mm256_broadcast_ps(of_parts + 1);
#pragma GCC unroll 8
    for (std::size_t part = 0; part < kSuperParts; ++part) {
      biases[part] = _mm256_maddubs_epi16(_mm256_set1_epi8(32), load_bytes(q + part * kBlock));
    }
  }
  HWY_INLINE __m256i pairs(__m256i integers, std::size_t part) const {
    return _mm256_sub_epi16(_mm256_maddubs_epi16(integers, load_bytes(q + part * kBlock)),
                            biases[part]);
  }
  const std::int8_t* q;
  __m256 scales[2];
  __m256i biases[kSuperParts];
};

/// Of four parts and their first and second 16 elements: lane 4h + p is half h of part p.
template <class W>
HWY_INLINE __m256i products_of_parts(const std::int8_t* q, const SuperX<W>& x, std::size_t first) {
  __m256i pairs[4];
#pragma GCC unroll 4
  for (std::size_t i = 0; i < 4; ++i) {
    pairs[i] = x.pairs(load_bytes(q + (first + i) * kBlock), first + i);
  }
  return sums_of_pairs(pairs);
}

template <DType kType>
HWY_INLINE void add_super_block(const std::byte* block, const SuperX<KMinWeights<kType>>& x,
                                SuperSums& sums) {
  const auto piece = KMinWeights<kType>::piece(block, 0);
  const __m256i low = products_of_parts(piece.q, x, 0);
  const __m256i high = products_of_parts(piece.q, x, 4);
  const __m256i first_halves = _mm256_inserti128_si256(low, _mm256_castsi256_si128(high), 1);
  const __m256i second_halves = _mm256_permute2x128_si256(low, high, 0x31);
  const __m256 products = _mm256_cvtepi32_ps(_mm256_add_epi32(first_halves, second_halves));
  const __m256 factors = _mm256_mul_ps(_mm256_load_ps(piece.scales), x.scales);
  sums.products = _mm256_fmadd_ps(products, factors, sums.products);
  sums.minimums = _mm256_fmadd_ps(_mm256_load_ps(piece.minimums), x.totals, sums.minimums);
}

HWY_INLINE void add_super_block(const std::byte* block, const SuperX<Q6KWeights>& x,
                                SuperSums& sums) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(block);
  HWY_ALIGN std::int8_t q[kSuperBlock];
  Q6KBlocks::unpack<0>(data, q);
  const __m128i of_halves =
      _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(data + 192)),
                       _mm_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15));
  const __m256 common =
      _mm256_broadcastss_ps(_mm_cvtph_ps(_mm_cvtsi32_si128(scale_bits(block + 208))));
#pragma GCC unroll 2
  for (std::size_t i = 0; i < 2; ++i) {
    const __m128i scales = i == 0 ? of_halves : _mm_srli_si128(of_halves, 8);
    const __m256 factors = _mm256_mul_ps(_mm256_mul_ps(common, x.scales[i]),
                                         _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(scales)));
    const __m256 products = _mm256_cvtepi32_ps(products_of_parts(q, x, 4 * i));
    sums.products = _mm256_fmadd_ps(products, factors, sums.products);
  }
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
