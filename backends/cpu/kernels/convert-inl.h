// Conversions of neighbours: every format to f32, and f32 to the formats that ops write, bit for
// bit as decoder_of() and encoder_of() do. A NaN may become a different one.
#include <algorithm>
#include <limits>

#include "backends/cpu/kernels/weight_formats-inl.h"
#include "framework/core/float16.h"

#if defined(REPRISE_CONVERT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_CONVERT_INL_H
#undef REPRISE_CONVERT_INL_H
#else
#define REPRISE_CONVERT_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

/// Converts so many elements, whole blocks.
using Convert = void (*)(const std::byte* from, std::size_t elements, std::byte* to);

template <class W>
void decode_run(const std::byte* from, std::size_t elements, std::byte* to) {
  const F32 d;
  auto* y = reinterpret_cast<float*>(to);
  std::size_t i = 0;
  for (; i + W::kPiece <= elements; i += W::kPiece) {
    const auto piece = W::piece(from, i);
    for (std::size_t p = 0; p < kParts<W>; ++p) {
      hn::StoreU(piece.part(p), d, y + i + p * kLanes);
    }
  }
  if constexpr (kHasTail<W>) {
    if (i < elements) {
      store_part(d, W::tail(from, i, elements - i), y + i, elements - i);
    }
  }
}

/// Null for types that are not decoded.
inline Convert decode_to_f32(DType from) {
  Convert found = nullptr;
  const auto use = [&](auto weights) {
    found = decode_run<decltype(weights)>;
    return true;
  };
  with_weights(from, use, use);
  return found;
}

struct ToF16 {
  static HWY_INLINE hn::Vec<HalfBits> narrow(Vf x) {
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX2
    // Without an instruction Highway rounds in a different way.
    HWY_ALIGN float all[kLanes];
    HWY_ALIGN std::uint16_t halves[kLanes];
    hn::Store(x, F32(), all);
    std::transform(std::begin(all), std::end(all), std::begin(halves), f32_to_f16);
    return hn::Load(HalfBits(), halves);
#else
    return hn::BitCast(HalfBits(), hn::DemoteTo(hn::Rebind<hwy::float16_t, F32>(), x));
#endif
  }
};

struct ToBf16 {
  static HWY_INLINE hn::Vec<HalfBits> narrow(Vf x) {
    const hn::RebindToUnsigned<F32> words;
    const auto bits = hn::BitCast(words, x);
    const auto high = hn::ShiftRight<16>(bits);
    const auto odd = hn::And(high, hn::Set(words, 1));
    const auto nearest = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(words, 0x7FFF))));
    const auto quiet = hn::Or(high, hn::Set(words, 0x40));
    const auto is_nan = hn::RebindMask(words, hn::IsNaN(x));
    return hn::TruncateTo(HalfBits(), hn::IfThenElse(is_nan, quiet, nearest));
  }
};

template <class To>
void encode_halves(const std::byte* from, std::size_t elements, std::byte* to) {
  const auto* x = reinterpret_cast<const float*>(from);
  auto* y = reinterpret_cast<std::uint16_t*>(to);
  for (std::size_t i = 0; i < elements; i += kLanes) {
    const std::size_t left = elements - i;
    store_up_to(HalfBits(), To::narrow(load_up_to(F32(), x + i, left)), y + i, left);
  }
}

/// A block of 32 values.
struct EncodedBlock {
  static constexpr std::size_t kVectors = kBlock / kLanes;
  HWY_INLINE explicit EncodedBlock(const float* from) : at(from) {
    for (std::size_t p = 0; p < kVectors; ++p) {
      v[p] = hn::LoadU(F32(), from + p * kLanes);
    }
  }
  /// By bits: a NaN is above every number.
  HWY_INLINE hn::Vec<Words> magnitude(std::size_t p) const {
    return hn::And(hn::BitCast(Words(), v[p]), hn::Set(Words(), 0x7FFFFFFF));
  }
  HWY_INLINE std::int32_t max_magnitude() const {
    auto all = magnitude(0);
    for (std::size_t p = 1; p < kVectors; ++p) {
      all = hn::Max(all, magnitude(p));
    }
    return hn::GetLane(hn::MaxOfLanes(Words(), all));
  }
  /// The first value of the largest magnitude; +0 if there are only zeros.
  HWY_INLINE float largest() const {
    const std::int32_t max = max_magnitude();
    for (std::size_t p = 0; p < kVectors && max != 0; ++p) {
      const auto lane = hn::FindFirstTrue(Words(), hn::Eq(magnitude(p), hn::Set(Words(), max)));
      if (lane >= 0) {
        return at[p * kLanes + static_cast<std::size_t>(lane)];
      }
    }
    return 0;
  }
  /// Part p as numbers of steps; a factor of 0 makes 0 of NaN, too.
  HWY_INLINE Vf steps(std::size_t p, Vf factor) const {
    return hn::IfThenElseZero(hn::Ne(factor, hn::Zero(F32())), hn::Mul(v[p], factor));
  }
  const float* at;
  Vf v[kVectors];
};

/// BlockScale of kLanes blocks at once.
struct BlockScales {
  /// A unit is `largest` by `steps`.
  HWY_INLINE BlockScales(const float* largest, float steps) {
    const F32 d;
    const Vf unit = hn::Div(hn::Load(d, largest), hn::Set(d, steps));
    const auto finite = hn::IsFinite(unit);
    const auto counts = hn::And(finite, hn::Gt(hn::Abs(unit), hn::Set(d, kNoHalf)));
    hn::Store(ToF16::narrow(hn::IfThenElse(finite, unit, hn::Set(d, kNan))), HalfBits(), halves);
    hn::Store(hn::IfThenElseZero(counts, hn::Div(hn::Set(d, 1), unit)), d, factors);
  }
  static constexpr float kNoHalf = 0x1p-25F;  // the largest number that is 0 in half precision
  static constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  HWY_ALIGN std::uint16_t halves[kLanes];
  HWY_ALIGN float factors[kLanes];
};

/// The nearest integers of values below 2^22, halves away from zero, as std::round(). What is added
/// is the largest number below one half: with one half, 0.5 - 2^-25 would become 1.
HWY_INLINE hn::Vec<Words> rounded_away(Vf x) {
  const Vf half = hn::CopySign(hn::Set(F32(), 0x0.FFFFFFp-1F), x);
  return hn::ConvertTo(Words(), hn::Add(x, half));
}

struct ToQ8 {
  static constexpr std::size_t kBytes = Q8Weights::kBlockBytes;
  static constexpr float kSteps = 127;
  static HWY_INLINE float largest(const EncodedBlock& block) {
    return std::bit_cast<float>(block.max_magnitude());
  }
  static HWY_INLINE void write(const EncodedBlock& block, Vf factor, std::uint8_t* q) {
    const hn::Rebind<std::int8_t, F32> bytes;
    for (std::size_t p = 0; p < EncodedBlock::kVectors; ++p) {
      const auto integers = hn::DemoteTo(bytes, rounded_away(block.steps(p, factor)));
      hn::StoreU(integers, bytes, reinterpret_cast<std::int8_t*>(q) + p * kLanes);
    }
  }
};

struct ToQ4 {
  static constexpr std::size_t kBytes = Q4Weights::kBlockBytes;
  static constexpr float kSteps = -8;
  static HWY_INLINE float largest(const EncodedBlock& block) { return block.largest(); }
  static HWY_INLINE void write(const EncodedBlock& block, Vf factor, std::uint8_t* q) {
    constexpr std::size_t kHalf = EncodedBlock::kVectors / 2;
    const hn::Rebind<std::uint8_t, F32> bytes;
    const auto nibbles = [&](std::size_t p) REPRISE_INLINED {
      const Vf steps = hn::Add(block.steps(p, factor), hn::Set(F32(), 8.5F));
      return hn::Min(hn::ConvertTo(Words(), steps), hn::Set(Words(), 15));
    };
    for (std::size_t p = 0; p < kHalf; ++p) {
      const auto both = hn::Or(nibbles(p), hn::ShiftLeft<4>(nibbles(p + kHalf)));
      hn::StoreU(hn::DemoteTo(bytes, both), bytes, q + p * kLanes);
    }
  }
};

template <class To>
void encode_blocks(const std::byte* from, std::size_t elements, std::byte* to) {
  const auto* x = reinterpret_cast<const float*>(from);
  for (std::size_t first = 0; first < elements; first += kLanes * kBlock) {
    const std::size_t blocks = std::min(elements - first, kLanes * kBlock) / kBlock;
    HWY_ALIGN float largest[kLanes] = {};
    for (std::size_t b = 0; b < blocks; ++b) {
      largest[b] = To::largest(EncodedBlock(x + first + b * kBlock));
    }
    const BlockScales scales(largest, To::kSteps);
    for (std::size_t b = 0; b < blocks; ++b, to += To::kBytes) {
      std::memcpy(to, scales.halves + b, sizeof(scales.halves[b]));
      To::write(EncodedBlock(x + first + b * kBlock), hn::Set(F32(), scales.factors[b]),
                reinterpret_cast<std::uint8_t*>(to) + sizeof(scales.halves[b]));
    }
  }
}

/// Null for types that nothing is encoded in, and for f32.
inline Convert encode_from_f32(DType to) {
  switch (to) {
    case DType::f16:
      return encode_halves<ToF16>;
    case DType::bf16:
      return encode_halves<ToBf16>;
    case DType::q8_0:
      return encode_blocks<ToQ8>;
    case DType::q4_0:
      return encode_blocks<ToQ4>;
    default:
      return nullptr;
  }
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
