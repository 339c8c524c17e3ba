// Blocks of integers as f32 vectors, exact: a block is unpacked into a byte for each integer and a
// scale for each part, whatever its layout. Layouts: framework/core/decode_blocks.cpp.
#include "backends/cpu/kernels/weights-inl.h"
#include "framework/core/block_decoders.h"

#if defined(REPRISE_BLOCK_INTEGERS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_BLOCK_INTEGERS_INL_H
#undef REPRISE_BLOCK_INTEGERS_INL_H
#else
#define REPRISE_BLOCK_INTEGERS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

using Words = hn::Rebind<std::int32_t, F32>;

/// An unpacked block: parts of kPart integers have a scale and, where kMinimums, what is taken off.
template <std::size_t kElements, std::size_t kPart, bool kMinimums>
struct BlockIntegers {
  static_assert(kPart % kLanes == 0);
  static constexpr std::size_t kParts = kElements / kPart;
  HWY_ALIGN std::int8_t q[kElements];
  HWY_ALIGN float scales[kParts];
  HWY_ALIGN float minimums[kMinimums ? kParts : 1];

  HWY_INLINE Vf part(std::size_t p) const {
    const hn::Rebind<std::int8_t, F32> bytes;
    const std::size_t of = p * kLanes / kPart;
    const Vf integers =
        hn::ConvertTo(F32(), hn::PromoteTo(Words(), hn::LoadU(bytes, q + p * kLanes)));
    const Vf scale = hn::Set(F32(), scales[of]);
    if constexpr (kMinimums) {
      return hn::MulSub(scale, integers, hn::Set(F32(), minimums[of]));
    } else {
      return hn::Mul(scale, integers);
    }
  }
};

/// Vectors of bytes: half of a block of 32, or as many as registers hold up to a whole one.
using HalfBlock = hn::FixedTag<std::uint8_t, kBlock / 2>;
using Bytes = hn::CappedTag<std::uint8_t, kBlock>;

/// kMask of each byte, once it is moved by kShift bits: down, or up if that is negative.
template <int kShift, int kMask, class D>
HWY_INLINE hn::Vec<D> bits_of(D d, hn::Vec<D> bytes) {
  const hn::Repartition<std::uint16_t, D>
      pairs;  // there are no shifts of bytes; the mask is within one
  const auto mask = hn::Set(d, static_cast<std::uint8_t>(kMask));
  if constexpr (kShift == 0) {
    return hn::And(bytes, mask);
  } else if constexpr (kShift > 0) {
    return hn::And(hn::BitCast(d, hn::ShiftRight<kShift>(hn::BitCast(pairs, bytes))), mask);
  } else {
    return hn::And(hn::BitCast(d, hn::ShiftLeft<-kShift>(hn::BitCast(pairs, bytes))), mask);
  }
}

template <class D>
HWY_INLINE void store_integers(D d, hn::Vec<D> bytes, std::int8_t* to) {
  hn::StoreU(bytes, d, reinterpret_cast<std::uint8_t*>(to));
}

HWY_INLINE float half_at(const std::uint8_t* from) {
  return hn::GetLane(block_scale(reinterpret_cast<const std::byte*>(from)));
}

/// What the nibbles of iq4_nl and iq4_xs stand for.
HWY_INLINE hn::Vec<HalfBlock> levels_of(hn::Vec<HalfBlock> nibbles) {
  const hn::RebindToSigned<HalfBlock> integers;
  return hn::TableLookupBytes(hn::BitCast(HalfBlock(), hn::LoadU(integers, kIq4Levels)), nibbles);
}

/// Blocks of 32: q4_1, q5_0, q5_1 and iq4_nl. Low nibbles are elements 0 to 15.
template <DType kType>
struct SmallBlocks {
  static constexpr bool kMinimums = kType == DType::q4_1 || kType == DType::q5_1;
  static constexpr bool kFifthBits = kType == DType::q5_0 || kType == DType::q5_1;
  using Integers = BlockIntegers<kBlock, kBlock, kMinimums>;

  static HWY_INLINE void unpack(const std::uint8_t* block, Integers& to) {
    const HalfBlock d;
    constexpr std::size_t kHigh = kMinimums ? 4 : 2;
    const auto both = hn::LoadU(d, block + kHigh + (kFifthBits ? 4 : 0));
    put<0>(block + kHigh, bits_of<0, 15>(d, both), to);
    put<1>(block + kHigh, bits_of<4, 15>(d, both), to);
    to.scales[0] = half_at(block);
    if constexpr (kMinimums) {
      to.minimums[0] = -half_at(block + 2);
    }
  }

 private:
  template <std::size_t kHalf>
  static HWY_INLINE void put(const std::uint8_t* high, hn::Vec<HalfBlock> q, Integers& to) {
    const HalfBlock d;
    if constexpr (kFifthBits) {
      const auto fifth = hn::LoadMaskBits(d, high + 2 * kHalf);
      q = hn::Or(q, hn::IfThenElseZero(fifth, hn::Set(d, 16)));
    }
    if constexpr (kType == DType::q5_0) {
      q = hn::Sub(q, hn::Set(d, 16));
    } else if constexpr (kType == DType::iq4_nl) {
      q = levels_of(q);
    }
    store_integers(d, q, to.q + kHalf * kBlock / 2);
  }
};

/// Rows of blocks that Format unpacks.
template <DType kType, class Format>
struct UnpackedWeights {
  using Piece = typename Format::Integers;
  static constexpr std::size_t kPiece = info_of(kType).block_elements;
  static constexpr std::size_t kBytes = info_of(kType).block_bytes;
  static constexpr std::size_t bytes(std::size_t elements) { return elements / kPiece * kBytes; }
  static HWY_INLINE Piece piece(const std::byte* row, std::size_t i) {
    Piece piece;
    Format::unpack(reinterpret_cast<const std::uint8_t*>(row + bytes(i)), piece);
    return piece;
  }
};

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
