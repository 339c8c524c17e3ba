// Products of q6_K with rows of x rounded to 8 bits, where the processor has sums of products of
// bytes: two parts of a super-block at a time, whose integers are scaled once.
#include "backends/cpu/kernels/rounded_block-inl.h"
#include "backends/cpu/kernels/super_blocks-inl.h"

#if defined(REPRISE_SUPER_PRODUCTS_WIDE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_SUPER_PRODUCTS_WIDE_INL_H
#undef REPRISE_SUPER_PRODUCTS_WIDE_INL_H
#else
#define REPRISE_SUPER_PRODUCTS_WIDE_INL_H
#endif

#if REPRISE_BYTE_SUMS
HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

/// Vectors of two parts in a super-block.
constexpr std::size_t kSuperPairs = kSuperParts / 2;

/// A float per part, for the lanes of the two parts of a pair.
HWY_INLINE __m512 of_parts(__m256 values, std::size_t first, std::size_t second) {
  const auto a = static_cast<int>(first), b = static_cast<int>(second);
  return _mm512_permutexvar_ps(_mm512_setr_epi32(a, a, a, a, a, a, a, a, b, b, b, b, b, b, b, b),
                               _mm512_castps256_ps512(values));
}

/// The low or the high halves of 64 bytes.
HWY_INLINE __m512i nibbles_of(const std::uint8_t* bytes, bool high) {
  const __m512i both = _mm512_loadu_si512(bytes);
  return _mm512_and_si512(high ? _mm512_srli_epi16(both, 4) : both, _mm512_set1_epi8(15));
}

/// q, with bits of `high` that `mask` says, once it is turned left by so many bits in its two
/// halves.
HWY_INLINE __m512i with_high_bits(__m512i q, __m512i high, int first, int second, char mask) {
  const auto a = (first + 64) % 64, b = (second + 64) % 64;
  const __m512i turned = _mm512_rolv_epi64(high, _mm512_setr_epi64(a, a, a, a, b, b, b, b));
  return _mm512_ternarylogic_epi64(turned, _mm512_set1_epi8(mask), q, 0xEA);  // turned & mask | q
}

HWY_INLINE __m512i rounded_pair(const RoundedRow& x, std::size_t block, std::size_t pair) {
  return _mm512_loadu_si512(x.q + block * kSuperBlock + pair * 2 * kBlock);
}

/// Sums of a row of weights so far.
struct SuperSums {
  HWY_INLINE SuperSums() : products(_mm512_setzero_ps()) {}
  HWY_INLINE hn::Vec<BlockSums> total() const {
    return {_mm256_add_ps(_mm512_castps512_ps256(products), _mm512_extractf32x8_ps(products, 1))};
  }
  __m512 products;
};

/// A super-block of x, for any number of rows of weights.
template <class W>
struct SuperX;

/// Scales of pairs; what makes up for weights that are 32 too large.
template <>
struct SuperX<Q6KWeights> {
  HWY_INLINE SuperX(const RoundedRow& row, std::size_t block) {
    const __m256 of_blocks = _mm256_loadu_ps(row.scales + block * kSuperParts);
#pragma GCC unroll 4
    for (std::size_t pair = 0; pair < kSuperPairs; ++pair) {
      scales[pair] = of_parts(of_blocks, 2 * pair, 2 * pair + 1);
      q[pair] = rounded_pair(row, block, pair);
      biases[pair] =
          _mm512_sub_epi32(_mm512_setzero_si512(),
                           add_products(_mm512_setzero_si512(), _mm512_set1_epi8(32), q[pair]));
    }
  }
  __m512 scales[kSuperPairs];
  __m512i q[kSuperPairs], biases[kSuperPairs];
};

HWY_INLINE void add_super_block(const std::byte* block, const SuperX<Q6KWeights>& x,
                                SuperSums& sums) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(block);
  const __m512i of_halves = _mm512_cvtepi8_epi32(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + 192)));  // of 16 elements each
  const __m512 common =
      _mm512_broadcastss_ps(_mm_cvtph_ps(_mm_set1_epi16(scale_bits(block + 208))));
  const __m512 scales = _mm512_mul_ps(common, _mm512_cvtepi32_ps(of_halves));
#pragma GCC unroll 4
  for (std::size_t pair = 0; pair < kSuperPairs; ++pair) {
    const auto* bits = reinterpret_cast<const __m256i*>(data + 128 + pair / 2 * 32);
    const int turn = pair % 2 == 0 ? 4 : 0;
    const __m512i q =
        with_high_bits(nibbles_of(data + pair / 2 * 64, pair % 2 != 0),
                       _mm512_broadcast_i64x4(_mm256_loadu_si256(bits)), turn, turn - 2, 0x30);
    const __m512i products = add_products(x.biases[pair], q, x.q[pair]);
    const auto a = static_cast<int>(4 * pair);
    const __m512i lanes = _mm512_setr_epi32(a, a, a, a, a + 1, a + 1, a + 1, a + 1, a + 2, a + 2,
                                            a + 2, a + 2, a + 3, a + 3, a + 3, a + 3);
    sums.products = _mm512_fmadd_ps(
        _mm512_cvtepi32_ps(products),
        _mm512_mul_ps(_mm512_permutexvar_ps(lanes, scales), x.scales[pair]), sums.products);
  }
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
