// Products of q4_K and q5_K with rows of x rounded to 8 bits, where the processor has sums of
// products of bytes. The parts of a super-block are two quads: those of low and those of high
// halves of bytes.
#include "backends/cpu/kernels/rounded_quads_wide-inl.h"
#include "backends/cpu/kernels/super_blocks-inl.h"

#if defined(REPRISE_SUPER_QUADS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_SUPER_QUADS_INL_H
#undef REPRISE_SUPER_QUADS_INL_H
#else
#define REPRISE_SUPER_QUADS_INL_H
#endif

#if REPRISE_BYTE_SUMS
HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

template <DType kType>
inline constexpr std::size_t kQuadStep<KMinWeights<kType>> = 2;

/// Where bytes of the parts of a quad lie in 16 bytes of each of four rows.
struct PartPlaces {
  constexpr PartPlaces(std::size_t first, std::size_t second) {
    for (std::size_t lane = 0; lane < 16; ++lane) {
      const std::size_t part = lane / 4, row = lane % 4;
      at[4 * lane] =
          static_cast<std::uint8_t>(16 * row + (part < 2 ? first : second) + 2 * (part % 2));
    }
  }
  alignas(64) std::uint8_t at[64]{};
};
inline constexpr PartPlaces kScalePlaces[] = {{4, 0}, {5, 1}};
inline constexpr PartPlaces kMinimumPlaces[] = {{8, 12}, {9, 13}};

/// A super-block of each row: what its parts are multiplied by, and what is taken off.
template <DType kType>
struct QuadWeights<KMinWeights<kType>> {
  static constexpr std::size_t kQuads = 2;
  static constexpr bool kFifthBit = KMinWeights<kType>::kFifthBit;
  static constexpr int kLargest = kFifthBit ? 31 : 15;

  HWY_INLINE QuadWeights(const TileWeights& w, std::size_t block) {
#pragma GCC unroll 4
    for (std::size_t r = 0; r < kTileRows; ++r) {
      row[r] = w.row[r] + block * KMinWeights<kType>::kBytes;
    }
    const __m512i heads = load_halves(row[0], row[1], row[2], row[3]);
    // Of each row: factors, and words a, b, c as in KParts.
    const __m512i low = _mm512_and_si512(heads, _mm512_set1_epi8(63));  // of a and b
    const __m512i two = _mm512_and_si512(_mm512_srli_epi32(heads, 2), _mm512_set1_epi8(0x30));
    const __m512i c = _mm512_shuffle_epi32(heads, _MM_PERM_DDDD);
    const __m512i shifted =
        _mm512_srlv_epi32(c, _mm512_setr_epi32(0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4, 0));
    const __m512i high =
        _mm512_ternarylogic_epi32(shifted, _mm512_set1_epi8(15), two, 0xEA);  // shifted & 15 | two
    // Scales 4 to 7, scales 0 to 3, minimums 0 to 3, minimums 4 to 7.
    const __m512i parts = _mm512_mask_shuffle_epi32(low, 0x9999, high, _MM_PERM_CBBB);
    const __m512i of_factors = _mm512_castsi128_si512(_mm_setr_epi16(0, 8, 16, 24, 1, 9, 17, 25));
    const __m256 factors =
        _mm256_cvtph_ps(_mm512_castsi512_si128(_mm512_permutexvar_epi16(of_factors, heads)));
    const __m512 both = _mm512_castps256_ps512(factors);
    const __m512 scale = _mm512_shuffle_f32x4(both, both, 0x00);
    const __m512 minimum = _mm512_shuffle_f32x4(both, both, 0x55);
    const auto floats = [&](const PartPlaces& places) REPRISE_INLINED {
      return _mm512_cvtepi32_ps(
          _mm512_maskz_permutexvar_epi8(0x1111111111111111U, _mm512_load_si512(places.at), parts));
    };
#pragma GCC unroll 2
    for (std::size_t i = 0; i < kQuads; ++i) {
      scales[i] = _mm512_mul_ps(scale, floats(kScalePlaces[i]));
      minimums[i] = _mm512_mul_ps(minimum, floats(kMinimumPlaces[i]));
    }
  }
  const std::byte* row[kTileRows];
  __m512 scales[kQuads], minimums[kQuads];
};

template <DType kType>
struct QuadProducts<KMinWeights<kType>> {
  using Weights = QuadWeights<KMinWeights<kType>>;

  HWY_INLINE QuadProducts() {}  // none
  HWY_INLINE QuadProducts(const Weights& w, const QuadX* x) {
    const auto total = [&](std::size_t i) REPRISE_INLINED {
      return _mm512_mul_ps(_mm512_loadu_ps(x[i].scales),
                           _mm512_cvtepi32_ps(_mm512_loadu_si512(x[i].biases)));
    };
    minimums = _mm512_fmadd_ps(w.minimums[1], total(1), _mm512_mul_ps(w.minimums[0], total(0)));
#pragma GCC unroll 2
    for (std::size_t i = 0; i < Weights::kQuads; ++i) {
      factors[i] = _mm512_mul_ps(w.scales[i], _mm512_loadu_ps(x[i].scales));
    }
#pragma GCC unroll 4
    for (std::size_t r = 0; r < kTileRows; ++r) {
      const std::byte* data = w.row[r] + (Weights::kFifthBit ? 48 : 16);
      const __m512i first = _mm512_loadu_si512(data), second = _mm512_loadu_si512(data + 64);
      const __m512i halves[2] = {_mm512_shuffle_i64x2(first, second, 0x88),
                                 _mm512_shuffle_i64x2(first, second, 0xDD)};
#pragma GCC unroll 2
      for (std::size_t i = 0; i < Weights::kQuads; ++i) {
        of_rows[i][r] = _mm512_setzero_si512();
#pragma GCC unroll 2
        for (std::size_t half = 0; half < 2; ++half) {
          __m512i q = _mm512_and_si512(i == 0 ? halves[half] : _mm512_srli_epi16(halves[half], 4),
                                       _mm512_set1_epi8(15));
          if constexpr (Weights::kFifthBit) {
            q = with_fifth_bits(q, load_half(w.row[r] + 16 + half * 16), i);
          }
          of_rows[i][r] = add_products(of_rows[i][r], q, _mm512_loadu_si512(x[i].halves[half]));
        }
      }
    }
  }
  HWY_INLINE hn::Vec<QuadSums> added_to(hn::Vec<QuadSums> sum) const {
    sum.raw = _mm512_sub_ps(sum.raw, minimums);
#pragma GCC unroll 2
    for (std::size_t i = 0; i < Weights::kQuads; ++i) {
      const __m512i integers = sums_of_blocks<Weights::kLargest>(of_rows[i]);
      sum.raw = _mm512_fmadd_ps(_mm512_cvtepi32_ps(integers), factors[i], sum.raw);
    }
    return sum;
  }
  /// Bit 2b + odd of each byte is the fifth one in block b.
  static HWY_INLINE __m512i with_fifth_bits(__m512i q, __m128i bits, std::size_t odd) {
    const __m512i turns = odd == 0 ? _mm512_setr_epi64(4, 4, 2, 2, 0, 0, 62, 62)
                                   : _mm512_setr_epi64(3, 3, 1, 1, 63, 63, 61, 61);
    const __m512i turned = _mm512_rolv_epi64(_mm512_broadcast_i32x4(bits), turns);
    return _mm512_ternarylogic_epi64(turned, _mm512_set1_epi8(0x10), q, 0xEA);  // turned & 16 | q
  }
  __m512i of_rows[Weights::kQuads][kTileRows]{};
  __m512 factors[Weights::kQuads]{}, minimums{};
};

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
