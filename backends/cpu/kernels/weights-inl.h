// Rows of weights as f32 vectors, exact: plain types, q8_0 and q4_0. A row is read in pieces of
// kPiece elements, each of kParts vectors.
#include "backends/cpu/kernels/simd-inl.h"

#if defined(REPRISE_WEIGHTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_WEIGHTS_INL_H
#undef REPRISE_WEIGHTS_INL_H
#else
#define REPRISE_WEIGHTS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

struct F32Weights {
  static constexpr std::size_t kPiece = kLanes;
  struct Piece {
    const float* at;
    HWY_INLINE Vf part(std::size_t /*p*/) const { return hn::LoadU(F32(), at); }
  };
  static constexpr std::size_t bytes(std::size_t elements) { return elements * sizeof(float); }
  static HWY_INLINE const float* at(const std::byte* row, std::size_t i) {
    return reinterpret_cast<const float*>(row) + i;
  }
  static HWY_INLINE Piece piece(const std::byte* row, std::size_t i) { return {at(row, i)}; }
  /// The last elements of a row, fewer than a piece.
  static HWY_INLINE Vf tail(const std::byte* row, std::size_t i, std::size_t count) {
    return load_part(F32(), at(row, i), count);
  }
};

using HalfBits = hn::Rebind<std::uint16_t, F32>;

struct FromF16 {
  static HWY_INLINE Vf widen(hn::Vec<HalfBits> bits) {
    const Vf wide = hn::PromoteTo(F32(), hn::BitCast(hn::Rebind<hwy::float16_t, F32>(), bits));
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX2
    // Without an instruction Highway takes infinity and NaN for large numbers.
    const hn::RebindToUnsigned<F32> words;
    const auto exponent = hn::And(hn::PromoteTo(words, bits), hn::Set(words, 0x7C00));
    const auto special = hn::Eq(exponent, hn::Set(words, 0x7C00));
    const auto max = hn::IfThenElseZero(special, hn::Set(words, 0x7F800000));
    return hn::BitCast(F32(), hn::Or(hn::BitCast(words, wide), max));
#else
    return wide;
#endif
  }
};
struct FromBf16 {
  static HWY_INLINE Vf widen(hn::Vec<HalfBits> bits) {
    const hn::Rebind<std::uint32_t, F32> words;
    return hn::BitCast(F32(), hn::ShiftLeft<16>(hn::PromoteTo(words, bits)));
  }
};

template <class From>
struct HalfWeights {
  static constexpr std::size_t kPiece = kLanes;
  using Bits = HalfBits;
  struct Piece {
    const std::uint16_t* at;
    HWY_INLINE Vf part(std::size_t /*p*/) const { return From::widen(hn::LoadU(Bits(), at)); }
  };
  static constexpr std::size_t bytes(std::size_t elements) {
    return elements * sizeof(std::uint16_t);
  }
  static HWY_INLINE const std::uint16_t* at(const std::byte* row, std::size_t i) {
    return reinterpret_cast<const std::uint16_t*>(row) + i;
  }
  static HWY_INLINE Piece piece(const std::byte* row, std::size_t i) { return {at(row, i)}; }
  static HWY_INLINE Vf tail(const std::byte* row, std::size_t i, std::size_t count) {
    return From::widen(load_part(Bits(), at(row, i), count));
  }
};
using F16Weights = HalfWeights<FromF16>;
using Bf16Weights = HalfWeights<FromBf16>;

/// The scale of a block: f16 in its first two bytes.
HWY_INLINE std::int16_t scale_bits(const std::byte* block) {
  std::int16_t bits;
  std::memcpy(&bits, block, sizeof(bits));
  return bits;
}
HWY_INLINE Vf block_scale(const std::byte* block) {
  const auto bits = static_cast<std::uint16_t>(scale_bits(block));
  return FromF16::widen(hn::Set(HalfBits(), bits));
}

constexpr std::size_t kBlock = 32;

/// Vectors of up to a block of i16.
using I16 = hn::CappedTag<std::int16_t, kBlock>;
inline constexpr std::size_t kLanes16 = hn::MaxLanes(I16());

/// Blocks of 34 bytes: a scale and 32 signed bytes. Rows have whole blocks.
struct Q8Weights {
  static constexpr std::size_t kPiece = kBlock;
  static constexpr std::size_t kBlockBytes = 34;
  static constexpr std::size_t bytes(std::size_t elements) {
    return elements / kBlock * kBlockBytes;
  }
#if REPRISE_BYTE_SUMS
  /// The integers, kBias added.
  static constexpr std::int32_t kBias = 128;
  static HWY_INLINE __m256i biased(const std::byte* block) {
    return _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + 2)),
                            _mm256_set1_epi8(-128));
  }
#else
  static constexpr std::int32_t kBias = 0;
#endif
  struct Piece {
    Vf scale;
    const std::int8_t* at;
    /// The integers alone.
    HWY_INLINE Vf unscaled(std::size_t p) const {
      const hn::Rebind<std::int8_t, F32> bytes;
      const hn::Rebind<std::int32_t, F32> words;
      return hn::ConvertTo(F32(), hn::PromoteTo(words, hn::LoadU(bytes, at + p * kLanes)));
    }
    HWY_INLINE Vf part(std::size_t p) const { return hn::Mul(scale, unscaled(p)); }
    /// kLanes16 of the integers.
    HWY_INLINE hn::Vec<I16> integers(std::size_t p) const {
      return hn::PromoteTo(I16(), hn::LoadU(hn::Rebind<std::int8_t, I16>(), at + p * kLanes16));
    }
  };
  static HWY_INLINE Piece piece(const std::byte* row, std::size_t i) {
    const std::byte* block = row + bytes(i);
    return {block_scale(block), reinterpret_cast<const std::int8_t*>(block + 2)};
  }
};

/// Blocks of 18 bytes: a scale and 16 bytes whose low halves are elements 0 to 15 and whose high
/// halves are 16 to 31, each 8 too large. Rows have whole blocks.
struct Q4Weights {
  static constexpr std::size_t kPiece = kBlock;
  static constexpr std::size_t kBlockBytes = 18;
  static constexpr std::size_t bytes(std::size_t elements) {
    return elements / kBlock * kBlockBytes;
  }
#if REPRISE_BYTE_PRODUCTS
  /// The integers, kBias added.
  static constexpr std::int32_t kBias = 8;
  static HWY_INLINE __m256i biased(const std::byte* block) {
    const __m256i twice =
        _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 2)));
    const __m256i shifted = _mm256_srlv_epi64(twice, _mm256_set_epi64x(4, 4, 0, 0));
    return _mm256_and_si256(shifted, _mm256_set1_epi8(15));
  }
#else
  static constexpr std::int32_t kBias = 0;
#endif
  struct Piece {
    Vf scale;
    const std::uint8_t* at;
    HWY_INLINE Vf unscaled(std::size_t p) const {
      const hn::Rebind<std::uint8_t, F32> bytes;
      const hn::Rebind<std::int32_t, F32> words;
      const bool high = p * kLanes >= kBlock / 2;
      const auto two = hn::PromoteTo(words, hn::LoadU(bytes, at + p * kLanes % (kBlock / 2)));
#if HWY_TARGET <= HWY_AVX3
      // The lookup uses the low four bits of an index alone.
      HWY_ALIGN static constexpr float kValues[16] = {-8, -7, -6, -5, -4, -3, -2, -1,
                                                      0,  1,  2,  3,  4,  5,  6,  7};
      const Vf values = hn::Load(F32(), kValues);
      const auto index = high ? hn::ShiftRight<4>(two) : two;
      return Vf{_mm512_permutexvar_ps(index.raw, values.raw)};
#else
      const auto q = high ? hn::ShiftRight<4>(two) : hn::And(two, hn::Set(words, 15));
      return hn::ConvertTo(F32(), hn::Sub(q, hn::Set(words, 8)));
#endif
    }
    HWY_INLINE Vf part(std::size_t p) const { return hn::Mul(scale, unscaled(p)); }
    HWY_INLINE hn::Vec<I16> integers(std::size_t p) const {
      return hn::Sub(unsigned_integers(p), hn::Set(I16(), 8));
    }

   private:
    HWY_INLINE hn::Vec<I16> unsigned_integers(std::size_t p) const {
      if constexpr (kLanes16 == kBlock) {
        const hn::Half<I16> half;
        const auto two =
            hn::PromoteTo(half, hn::LoadU(hn::Rebind<std::uint8_t, decltype(half)>(), at));
        return hn::Combine(I16(), hn::ShiftRight<4>(two), hn::And(two, hn::Set(half, 15)));
      } else {
        const bool high = p * kLanes16 >= kBlock / 2;
        const auto two = hn::PromoteTo(
            I16(), hn::LoadU(hn::Rebind<std::uint8_t, I16>(), at + p * kLanes16 % (kBlock / 2)));
        return high ? hn::ShiftRight<4>(two) : hn::And(two, hn::Set(I16(), 15));
      }
    }
  };
  static HWY_INLINE Piece piece(const std::byte* row, std::size_t i) {
    const std::byte* block = row + bytes(i);
    return {block_scale(block), reinterpret_cast<const std::uint8_t*>(block + 2)};
  }
};

/// Vectors in a piece.
template <class W>
inline constexpr std::size_t kParts = W::kPiece / kLanes;
/// Whether a piece keeps its scale apart from integers.
template <class W>
inline constexpr bool kHasScale = requires(const typename W::Piece& piece) {
  piece.scale;
};
/// Whether rows may end inside a piece.
template <class W>
inline constexpr bool kHasTail = kParts<W> == 1;

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
