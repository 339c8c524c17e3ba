// Dot products of quantised weights with rows of x rounded to 8 bits: sums of a block are exact
// integers, scaled once. A scale per block of 32, the largest magnitude becomes 127, as llama.cpp
// rounds (but for its scales, which are halves). A block with inf or NaN gives NaN.
#include "backends/cpu/kernels/dot_tile-inl.h"

#if defined(REPRISE_ROUNDED_BLOCK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_ROUNDED_BLOCK_INL_H
#undef REPRISE_ROUNDED_BLOCK_INL_H
#else
#define REPRISE_ROUNDED_BLOCK_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

/// Four blocks as products by quads read them: elements 0 to 15 of each, then 16 to 31, then a bias
/// and a scale in four lanes a block. VNNI begins a row's products with the bias of weights that
/// are too large, so that it is in one lane of four; in all others it meets those of four rows.
struct QuadX {
  std::int8_t halves[2][4][16];
  std::int32_t biases[4][4];
  float scales[4][4];
};

/// A row of x: k integers, then for each block its scale and an integer that is added to its
/// products: what makes up for weights that are used as unsigned. Then whole quads of blocks once
/// more.
template <class Integer>
struct RoundedRowOf {
  RoundedRowOf(std::byte* row, std::size_t k)
      : q(reinterpret_cast<Integer*>(row)),
        scales(reinterpret_cast<float*>(row + k * sizeof(Integer))),
        biases(reinterpret_cast<std::int32_t*>(scales + k / kBlock)),
        quads(reinterpret_cast<QuadX*>(biases + k / kBlock)) {}
  static constexpr std::size_t bytes(std::size_t k) {
    return k * sizeof(Integer) + k / kBlock * (sizeof(float) + sizeof(std::int32_t)) +
           k / (4 * kBlock) * sizeof(QuadX);
  }
  Integer* q;
  float* scales;
  std::int32_t* biases;
  QuadX* quads;
};
#if REPRISE_BYTE_PRODUCTS
using RoundedRow = RoundedRowOf<std::int8_t>;
#else
using RoundedRow = RoundedRowOf<std::int16_t>;
#endif

/// The largest magnitude of a block, and the factor that makes it 127.
struct BlockRange {
  explicit HWY_INLINE BlockRange(const float* x) {
    const F32 d;
    Vf max = hn::Zero(d);
    Vf poison = hn::Zero(d);  // NaN if a value is no number: the largest one may hide that
    for (std::size_t i = 0; i < kBlock; i += kLanes) {
      const Vf values = hn::LoadU(d, x + i);
      max = hn::Max(max, hn::Abs(values));
      poison = hn::MulAdd(values, hn::Zero(d), poison);
    }
    const float largest = hn::GetLane(hn::MaxOfLanes(d, max));
    scale = largest / 127 + hn::GetLane(hn::SumOfLanes(d, poison));
    factor = 127 / largest;
    if (!(factor <= std::numeric_limits<float>::max())) {
      factor = 0;  // nothing, or less than f32 can scale
    }
  }
  float scale, factor;
};

/// From one block of a quad to its next, for weights that are multiplied by quads; 0 for others.
template <class W>
inline constexpr std::size_t kQuadStep = 0;
template <>
inline constexpr std::size_t kQuadStep<Q4Weights> = REPRISE_BYTE_PRODUCTS;
template <>
inline constexpr std::size_t kQuadStep<Q8Weights> = REPRISE_BYTE_SUMS;

template <class W>
HWY_INLINE void round_row(const float* x, std::size_t k, const RoundedRow& to) {
  const F32 d;
  const hn::Rebind<std::remove_pointer_t<decltype(to.q)>, F32> narrow;
  const hn::Rebind<std::int32_t, F32> words;
  for (std::size_t i = 0; i < k; i += kBlock) {
    const BlockRange range(x + i);
    const Vf factor = hn::Set(d, range.factor);
    auto sum = hn::Zero(words);
    for (std::size_t j = i; j < i + kBlock; j += kLanes) {
      const auto rounded =
          hn::DemoteTo(narrow, hn::NearestInt(hn::Mul(hn::LoadU(d, x + j), factor)));
      hn::StoreU(rounded, narrow, to.q + j);
      sum = hn::Add(sum, hn::PromoteTo(words, rounded));
    }
    to.scales[i / kBlock] = range.scale;
    to.biases[i / kBlock] = -W::kBias * hn::GetLane(hn::SumOfLanes(words, sum));
  }
}

/// The same row for products by quads, once round_row() has rounded it.
template <class W>
HWY_INLINE void lay_out_quads(std::size_t k, const RoundedRow& row) {
  if constexpr (constexpr std::size_t kStep = kQuadStep<W>; kStep != 0) {
    for (std::size_t block = 0; block < k / kBlock / (4 * kStep) * (4 * kStep); ++block) {
      QuadX& quad = row.quads[block / (4 * kStep) * kStep + block % kStep];
      const std::size_t at = block / kStep % 4;
      for (std::size_t half = 0; half < 2; ++half) {
        std::memcpy(quad.halves[half][at], row.q + block * kBlock + half * 16, 16);
      }
      std::ranges::fill(quad.biases[at], REPRISE_BYTE_SUMS && W::kBias > 0 ? 0 : row.biases[block]);
      quad.biases[at][0] = row.biases[block];
      std::ranges::fill(quad.scales[at], row.scales[block]);
    }
  }
}

#if REPRISE_BYTE_PRODUCTS

// Highway 1.0 has no products of bytes. With them, of 256 bits, a block takes 7 (q8_0) or 9 (q4_0)
// instructions instead of 9 or 12 of 512 bits.

#if REPRISE_BYTE_SUMS
/// sum[i] += the products of bytes 4i to 4i + 3. Assembly, because Highway's target for such CPUs
/// does not allow the intrinsic.
template <class Vector>
HWY_INLINE Vector add_products(Vector sum, Vector of_unsigned, Vector of_signed) {
  asm("%{evex%} vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(of_unsigned), "v"(of_signed));
  return sum;
}
#else
/// The same. Exact while two products fit into 16 bits: of unsigned ones up to 128.
HWY_INLINE __m256i add_products(__m256i sum, __m256i of_unsigned, __m256i of_signed) {
  const __m256i pairs = _mm256_maddubs_epi16(of_unsigned, of_signed);
  return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
#endif

HWY_INLINE __m256i load_bytes(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

#if !REPRISE_BYTE_SUMS
/// Each of four vectors has eight sums of 16 bits in either half: lane i of a half is that of
/// vector i's. Four of a vector's sums fit into 16 bits.
HWY_INLINE __m256i sums_of_pairs(const __m256i (&pairs)[4]) {
  const auto halved = [](__m256i a, __m256i b) REPRISE_INLINED {
    return _mm256_castsi256_ps(
        _mm256_add_epi16(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)));
  };
  const __m256 a = halved(pairs[0], pairs[1]);
  const __m256 b = halved(pairs[2], pairs[3]);
  const __m256i two = _mm256_add_epi16(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88)),
                                       _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xDD)));
  return _mm256_madd_epi16(two, _mm256_set1_epi16(1));
}
#endif

/// Products of two signed bytes, four by four: the sign of one goes to the other.
HWY_INLINE __m256i signed_products(__m256i a, __m256i b) {
  return add_products(_mm256_setzero_si256(), _mm256_abs_epi8(a), _mm256_sign_epi8(b, a));
}

/// Of a block of weights, four by four.
template <class W>
HWY_INLINE __m256i products_of_block(const std::byte* block, const RoundedRow& x, std::size_t b) {
  const __m256i rounded = load_bytes(x.q + b * kBlock);
  if constexpr (W::kBias == 0) {
    return signed_products(load_bytes(block + 2), rounded);
  } else {
    const __m256i bias = _mm256_zextsi128_si256(_mm_cvtsi32_si128(x.biases[b]));
    return add_products(bias, W::biased(block), rounded);
  }
}

using BlockSums = hn::FixedTag<float, 8>;

/// sum += the scaled products of block b.
template <class W>
HWY_INLINE hn::Vec<BlockSums> add_block(const std::byte* row, const RoundedRow& x, std::size_t b,
                                        hn::Vec<BlockSums> sum) {
  const BlockSums d;
  const std::byte* block = row + b * W::kBlockBytes;
  const __m256i products = products_of_block<W>(block, x, b);
  const hn::Vec<BlockSums> scale{_mm256_cvtph_ps(_mm_set1_epi16(scale_bits(block)))};
  return hn::MulAdd(hn::Vec<BlockSums>{_mm256_cvtepi32_ps(products)},
                    hn::Mul(scale, hn::Set(d, x.scales[b])), sum);
}

#else

using BlockSums = hn::Rebind<float, hn::RepartitionToWide<I16>>;

/// sum += the scaled products of block b.
template <class W>
HWY_INLINE hn::Vec<BlockSums> add_block(const std::byte* row, const RoundedRow& x, std::size_t b,
                                        hn::Vec<BlockSums> sum) {
  const BlockSums d;
  const hn::RepartitionToWide<I16> wide;
  const typename W::Piece piece = W::piece(row, b * kBlock);
  auto even = hn::Zero(wide);
  auto odd = hn::Zero(wide);
#pragma GCC unroll 4
  for (std::size_t p = 0; p < kBlock / kLanes16; ++p) {
    const auto rounded = hn::LoadU(I16(), x.q + b * kBlock + p * kLanes16);
    even = hn::ReorderWidenMulAccumulate(wide, piece.integers(p), rounded, even, odd);
  }
  const auto products = hn::ConvertTo(d, hn::Add(even, odd));
  return hn::MulAdd(products, hn::Mul(piece.scale, hn::Set(d, x.scales[b])), sum);
}

#endif

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
