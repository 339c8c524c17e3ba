// Dot products of q4_0 and q8_0 with rows of x rounded to 8 bits, four blocks at a time, where the
// processor has sums of products of bytes. Products of four rows are added up as integers until a
// vector has a lane for each block of each row: one conversion and one scale for all.
#include "backends/cpu/kernels/rounded_block-inl.h"

#if defined(REPRISE_ROUNDED_QUADS_WIDE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_ROUNDED_QUADS_WIDE_INL_H
#undef REPRISE_ROUNDED_QUADS_WIDE_INL_H
#else
#define REPRISE_ROUNDED_QUADS_WIDE_INL_H
#endif

#if REPRISE_BYTE_SUMS
HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

using QuadSums = hn::FixedTag<float, 16>;

/// Lane 4b + r is the sum of the four lanes of block b in row r. Weights are kLargest at most: two
/// lanes have 8 products each, then 16, and may fit into 16 bits, also with what makes up for a
/// bias.
template <int kLargest>
HWY_INLINE __m512i sums_of_blocks(const __m512i (&rows)[kTileRows]) {
  const auto halved = [](auto fit, __m512i a, __m512i b) REPRISE_INLINED {
    if constexpr (decltype(fit)::value) {
      return _mm512_madd_epi16(_mm512_packs_epi32(a, b), _mm512_set1_epi16(1));
    } else {
      const __m512 x = _mm512_castsi512_ps(a), y = _mm512_castsi512_ps(b);
      return _mm512_add_epi32(_mm512_castps_si512(_mm512_shuffle_ps(x, y, 0x88)),
                              _mm512_castps_si512(_mm512_shuffle_ps(x, y, 0xDD)));
    }
  };
  constexpr auto kHalf = std::bool_constant<8 * 127 * kLargest <= 32767>();
  constexpr auto kWhole = std::bool_constant<16 * 127 * kLargest <= 32767>();
  return halved(kWhole, halved(kHalf, rows[0], rows[1]), halved(kHalf, rows[2], rows[3]));
}

/// Four blocks of each row of weights (kQuads times), as bytes without a sign. Lane 4b + r of their
/// scales is block b of row r.
template <class W>
struct QuadWeights;

/// Where the integers of the first three of four blocks lie.
struct QuadPlaces {
  constexpr QuadPlaces() {
    for (std::size_t i = 0; i < 48; ++i) {
      at[i] = static_cast<std::uint8_t>(i / 16 * Q4Weights::kBlockBytes + 2 + i % 16);
    }
  }
  alignas(64) std::uint8_t at[64]{};
};
inline constexpr QuadPlaces kQuadPlaces;

HWY_INLINE __m128i load_half(const std::byte* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

HWY_INLINE __m512i load_halves(const std::byte* a, const std::byte* b, const std::byte* c,
                               const std::byte* e) {
  __m512i all = _mm512_castsi128_si512(load_half(a));
  all = _mm512_inserti32x4(all, load_half(b), 1);
  all = _mm512_inserti32x4(all, load_half(c), 2);
  return _mm512_inserti32x4(all, load_half(e), 3);
}

template <>
struct QuadWeights<Q4Weights> {
  static constexpr std::size_t kQuads = 1;
  static constexpr int kLargest = 15;
  HWY_INLINE QuadWeights(const TileWeights& w, std::size_t quad) {
    constexpr int k1 = Q4Weights::kBlockBytes / 2 * 0x10001;  // words, two by two
    const __m512i of_scales =
        _mm512_setr_epi32(0, 0, k1, k1, 2 * k1, 2 * k1, 3 * k1, 3 * k1, 0, 0, 0, 0, 0, 0, 0, 0);
    __m512i words = _mm512_setzero_si512();
#pragma GCC unroll 4
    for (std::size_t r = 0; r < kTileRows; ++r) {
      const std::byte* at = w.row[r] + quad * 4 * Q4Weights::kBlockBytes;
      const __m512i first = _mm512_loadu_si512(at);
      words = _mm512_mask_permutexvar_epi16(words, 0x1111U << r, of_scales, first);
      bytes[r] =
          _mm512_inserti32x4(_mm512_permutexvar_epi8(_mm512_load_si512(kQuadPlaces.at), first),
                             load_half(at + 3 * Q4Weights::kBlockBytes + 2), 3);
    }
    scales = _mm512_cvtph_ps(_mm512_castsi512_si256(words));
  }
  HWY_INLINE __m512i half(std::size_t row, bool second) const {
    return _mm512_and_si512(second ? _mm512_srli_epi16(bytes[row], 4) : bytes[row],
                            _mm512_set1_epi8(15));
  }
  __m512i bytes[kTileRows];
  __m512 scales;
};

/// As _mm512_loadu_si512. Clang does not see it: it would make loads of the same bytes out of it,
/// in general registers.
HWY_INLINE __m512i load_words(const std::byte* from) {
  __m512i words;
  asm("vmovdqu64 %1, %0" : "=v"(words) : "m"(*reinterpret_cast<const __m512i_u*>(from)));
  return words;
}

template <>
struct QuadWeights<Q8Weights> {
  static constexpr std::size_t kQuads = 1;
  static constexpr int kLargest = 255;
  HWY_INLINE QuadWeights(const TileWeights& w, std::size_t quad) {
    constexpr std::size_t kBytes = Q8Weights::kBlockBytes;
    constexpr int k1 = kBytes / 2 * 0x10001;  // words, two by two
    const __m512i of_first = _mm512_setr_epi32(0, 0, k1, k1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m512i of_second = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, k1, k1, 0, 0, 0, 0, 0, 0, 0, 0);
    __m512i words = _mm512_setzero_si512();
#pragma GCC unroll 4
    for (std::size_t r = 0; r < kTileRows; ++r) {
      const std::byte* at = w.row[r] + quad * 4 * kBytes;
      words = _mm512_mask_permutexvar_epi16(words, 0x11U << r, of_first, load_words(at));
      words = _mm512_mask_permutexvar_epi16(words, 0x1100U << r, of_second,
                                            load_words(at + 2 * kBytes));
#pragma GCC unroll 2
      for (std::size_t i = 0; i < 2; ++i) {
        const std::byte* half = at + 2 + i * 16;
        const __m512i all = load_halves(half, half + kBytes, half + 2 * kBytes, half + 3 * kBytes);
        bytes[r][i] = _mm512_xor_si512(all, _mm512_set1_epi8(-128));
      }
    }
    scales = _mm512_cvtph_ps(_mm512_castsi512_si256(words));
  }
  HWY_INLINE __m512i half(std::size_t row, bool second) const { return bytes[row][second]; }
  __m512i bytes[kTileRows][2];
  __m512 scales;
};

/// The products of four blocks of each row, in four lanes a block, and what scales them.
template <class W>
struct QuadProducts {
  HWY_INLINE QuadProducts() {}  // none
  HWY_INLINE QuadProducts(const QuadWeights<W>& w, const QuadX* x)
      : factors(_mm512_mul_ps(w.scales, _mm512_loadu_ps(x->scales))) {
    const __m512i biases = _mm512_loadu_si512(x->biases);
    const __m512i first = _mm512_loadu_si512(x->halves[0]);
    const __m512i second = _mm512_loadu_si512(x->halves[1]);
#pragma GCC unroll 4
    for (std::size_t r = 0; r < kTileRows; ++r) {
      of_rows[r] =
          add_products(add_products(biases, w.half(r, false), first), w.half(r, true), second);
    }
  }
  HWY_INLINE hn::Vec<QuadSums> added_to(hn::Vec<QuadSums> sum) const {
    const __m512i integers = sums_of_blocks<QuadWeights<W>::kLargest>(of_rows);
    return {_mm512_fmadd_ps(_mm512_cvtepi32_ps(integers), factors, sum.raw)};
  }
  __m512i of_rows[kTileRows]{};
  __m512 factors{};
};

/// out[j] = the products of so many blocks, whole quads and not none, of each row. What one step
/// makes of weights, products and sums is used in the next one: where instructions wait for the
/// ones before them, a processor holds too few of them, above all one that two threads share.
template <class W, std::size_t kVectors>
HWY_INLINE void multiply_quads(const TileWeights& w, const RoundedRow* x, std::size_t blocks,
                               hn::Vec<Four> (&out)[kVectors]) {
  const QuadSums d;
  constexpr std::size_t kQuads = QuadWeights<W>::kQuads;
  constexpr std::size_t kBytes = W::bytes(4 * kBlock * kQuads);
  const std::size_t last = blocks / (4 * kQuads) - 1;
  hn::Vec<QuadSums> sums[kVectors];
  QuadProducts<W> products[kVectors];
#pragma GCC unroll 4
  for (std::size_t j = 0; j < kVectors; ++j) {
    sums[j] = hn::Zero(d);
  }
  const auto multiply = [&](const QuadWeights<W>& weights, std::size_t quad) REPRISE_INLINED {
#pragma GCC unroll 4
    for (std::size_t j = 0; j < kVectors; ++j) {
      sums[j] = products[j].added_to(sums[j]);
      products[j] = QuadProducts<W>(weights, x[j].quads + quad * kQuads);
    }
  };
  const auto prefetch = [&](std::size_t quad) REPRISE_INLINED {  // nearly all lines
    for (std::size_t at = 0; at < kBytes; at += 72) {
      w.prefetch<kFirstCache>(quad * kBytes + at);
    }
  };
  prefetch(0);
  QuadWeights<W> weights(w, 0);
  for (std::size_t quad = 0; quad < last; ++quad) {
    prefetch(quad + 1);
    const QuadWeights<W> next(w, quad + 1);
    multiply(weights, quad);
    weights = next;
  }
  multiply(weights, last);
#pragma GCC unroll 4
  for (std::size_t j = 0; j < kVectors; ++j) {
    out[j] = sum_of_blocks(d, products[j].added_to(sums[j]));
  }
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
