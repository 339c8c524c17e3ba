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

/// Lane i: the largest lane of vector(i), which is a vector of D.
template <class D, class F>
HWY_INLINE hn::Vec<D> largest_of_each(D d, const F& vector) {
  const hn::Repartition<std::uint64_t, D> pairs;
  const auto two = [&](std::size_t i) REPRISE_INLINED {
    const auto a = vector(i), b = vector(i + 1);
    return hn::BitCast(pairs, hn::Max(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)));
  };
  // Four vectors: each block of four lanes has the largest of that block of each.
  const auto four = [&](std::size_t i) REPRISE_INLINED {
    const auto ab = two(i), cd = two(i + 2);
    return hn::Max(hn::BitCast(d, hn::InterleaveLower(pairs, ab, cd)),
                   hn::BitCast(d, hn::InterleaveUpper(pairs, ab, cd)));
  };
  if constexpr (kLanes == 4) {
    return four(0);
  } else {
    const auto halves = [&](std::size_t i, std::size_t j) REPRISE_INLINED {
      const auto a = four(i), b = four(j);
      return hn::Max(hn::ConcatLowerLower(d, b, a), hn::ConcatUpperUpper(d, b, a));
    };
    if constexpr (kLanes == 8) {
      return halves(0, 4);
    } else {
      const auto quarters = [&](std::size_t i) REPRISE_INLINED {
        const auto v = halves(i, i + 8);
        return hn::Max(v, hn::SwapAdjacentBlocks(v));
      };
      const auto even = quarters(0), odd = quarters(4);
      return hn::OddEvenBlocks(odd, even);
    }
  }
}

/// Up to kLanes blocks of 32 values.
struct EncodedBlocks {
  static constexpr std::size_t kVectors = kBlock / kLanes;
  static constexpr std::size_t kValues = kLanes * kBlock;
  const float* x;
  std::size_t count;
  /// The last one stands for those that are not there.
  HWY_INLINE const float* at(std::size_t b) const { return x + std::min(b, count - 1) * kBlock; }
  /// The largest f(values) of each block, as bits of D.
  template <class D, class F>
  HWY_INLINE hn::Vec<D> largest(D d, const F& f) const {
    return largest_of_each(d, [&](std::size_t b) REPRISE_INLINED {
      auto all = hn::BitCast(d, f(hn::LoadU(F32(), at(b))));
      for (std::size_t p = 1; p < kVectors; ++p) {
        all = hn::Max(all, hn::BitCast(d, f(hn::LoadU(F32(), at(b) + p * kLanes))));
      }
      return all;
    });
  }
};

/// BlockScale of kLanes blocks at once.
struct BlockScales {
  /// A unit is `largest` by `steps`.
  HWY_INLINE BlockScales(Vf largest, float steps) {
    const F32 d;
    const Vf unit = hn::Div(largest, hn::Set(d, steps));
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

/// x as numbers of steps; a factor of 0 makes 0 of NaN, too.
HWY_INLINE Vf steps_of(const float* x, Vf factor) {
  return hn::IfThenElseZero(hn::Ne(factor, hn::Zero(F32())), hn::Mul(hn::LoadU(F32(), x), factor));
}

/// The nearest integers of values below 2^22, halves away from zero, as std::round(). What is added
/// is the largest number below one half: with one half, 0.5 - 2^-25 would become 1.
HWY_INLINE hn::Vec<Words> rounded_away(Vf x) {
  const Vf half = hn::CopySign(hn::Set(F32(), 0x0.FFFFFFp-1F), x);
  return hn::ConvertTo(Words(), hn::Add(x, half));
}

struct ToQ8 {
  static constexpr std::size_t kBytes = Q8Weights::kBlockBytes;
  static constexpr float kSteps = 127;
  static HWY_INLINE Vf largest(const EncodedBlocks& blocks) {
    // By bits: a NaN is above every number.
    return hn::BitCast(F32(), blocks.largest(Words(), [](Vf x) HWY_ATTR { return hn::Abs(x); }));
  }
  static HWY_INLINE void write(const float* x, Vf factor, std::uint8_t* q) {
    const hn::Rebind<std::int8_t, F32> bytes;
    for (std::size_t i = 0; i < kBlock; i += kLanes) {
      const auto integers = hn::DemoteTo(bytes, rounded_away(steps_of(x + i, factor)));
      hn::StoreU(integers, bytes, reinterpret_cast<std::int8_t*>(q) + i);
    }
  }
};

struct ToQ4 {
  static constexpr std::size_t kBytes = Q4Weights::kBlockBytes;
  static constexpr float kSteps = -8;
  /// The first values of the largest magnitudes; +0 if there are only zeros.
  static HWY_INLINE Vf largest(const EncodedBlocks& blocks) {
    const Words words;
    const hn::RebindToUnsigned<Words> bits;
    const auto as_it_is = [](Vf x) HWY_ATTR { return x; };
    const auto above = blocks.largest(words, as_it_is);
    // As unsigned, negative numbers are above all others, and among these the largest magnitude.
    const auto below = hn::BitCast(words, blocks.largest(bits, as_it_is));
    const auto magnitude = hn::And(below, hn::Set(words, 0x7FFFFFFF));
    const auto negative = hn::Lt(below, hn::Zero(words));
    const auto largest = hn::IfThenElse(hn::And(negative, hn::Gt(magnitude, above)), below, above);
    const auto minus_zero = hn::Set(words, std::numeric_limits<std::int32_t>::min());
    const auto found = hn::IfThenZeroElse(hn::Eq(largest, minus_zero), largest);
    const auto both =
        hn::And(negative, hn::And(hn::Eq(magnitude, above), hn::Gt(above, hn::Zero(words))));
    if (HWY_LIKELY(hn::AllFalse(words, both))) {
      return hn::BitCast(F32(), found);
    }
    const auto bits_of = [](float v) { return std::bit_cast<std::uint32_t>(std::abs(v)); };
    HWY_ALIGN float first[kLanes] = {};
    for (std::size_t b = 0; b < kLanes; ++b) {
      for (const float* x = blocks.at(b); x < blocks.at(b) + kBlock; ++x) {
        first[b] = bits_of(*x) > bits_of(first[b]) ? *x : first[b];
      }
    }
    return hn::Load(F32(), first);
  }
  static HWY_INLINE void write(const float* x, Vf factor, std::uint8_t* q) {
    const hn::Rebind<std::uint8_t, F32> bytes;
    const auto nibbles = [&](std::size_t i) REPRISE_INLINED {
      const Vf steps = hn::Add(steps_of(x + i, factor), hn::Set(F32(), 8.5F));
      return hn::Min(hn::ConvertTo(Words(), steps), hn::Set(Words(), 15));
    };
    for (std::size_t i = 0; i < kBlock / 2; i += kLanes) {
      const auto both = hn::Or(nibbles(i), hn::ShiftLeft<4>(nibbles(i + kBlock / 2)));
      hn::StoreU(hn::DemoteTo(bytes, both), bytes, q + i);
    }
  }
};

template <class To>
void encode_blocks(const std::byte* from, std::size_t elements, std::byte* to) {
  const auto* x = reinterpret_cast<const float*>(from);
  const float* const end = x + elements;
  while (x < end) {
    const EncodedBlocks blocks{
        x, std::min(static_cast<std::size_t>(end - x), EncodedBlocks::kValues) / kBlock};
    const BlockScales scales(To::largest(blocks), To::kSteps);
    for (std::size_t b = 0; b < blocks.count; ++b, x += kBlock, to += To::kBytes) {
      for (std::size_t i = 0; i < kBlock; i += 16) {  // lines of the next ones
        __builtin_prefetch(x + EncodedBlocks::kValues + i);
      }
      __builtin_prefetch(to + kLanes * To::kBytes, 1);
      std::memcpy(to, scales.halves + b, sizeof(scales.halves[b]));
      To::write(x, hn::Set(F32(), scales.factors[b]),
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
