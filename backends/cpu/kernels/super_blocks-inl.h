// Rows of q4_K, q5_K and q6_K as f32 vectors, exact, in pieces of 32 elements: what a model's
// weights are in most often. Layouts: framework/core/decode_super_blocks.cpp.
#include "backends/cpu/kernels/weights-inl.h"

#if defined(REPRISE_SUPER_BLOCKS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_SUPER_BLOCKS_INL_H
#undef REPRISE_SUPER_BLOCKS_INL_H
#else
#define REPRISE_SUPER_BLOCKS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

constexpr std::size_t kSuperBlock = 256;

using Words = hn::Rebind<std::int32_t, F32>;

/// kLanes bytes, each moved down by `shift` bits and masked.
HWY_INLINE hn::Vec<Words> bits_of(const std::uint8_t* from, int shift, std::int32_t mask) {
  const auto bytes = hn::PromoteTo(Words(), hn::LoadU(hn::Rebind<std::uint8_t, F32>(), from));
  return hn::And(hn::ShiftRightSame(bytes, shift), hn::Set(Words(), mask));
}

/// Part `j` of 8: scale and minimum of 6 bits each.
struct KScales {
  HWY_INLINE KScales(const std::byte* block, std::size_t j) {
    const auto* scales = reinterpret_cast<const std::uint8_t*>(block + 4);
    const unsigned a = scales[j];
    const unsigned b = scales[j + 4];
    unsigned s = a & 63U;
    unsigned m = b & 63U;
    if (j >= 4) {
      const unsigned before = scales[j - 4];
      s = (b & 15U) | before >> 6U << 4U;
      m = b >> 4U | a >> 6U << 4U;
    }
    scale = hn::Mul(block_scale(block), hn::Set(F32(), static_cast<float>(s)));
    minimum = hn::Mul(block_scale(block + 2), hn::Set(F32(), static_cast<float>(m)));
  }
  Vf scale, minimum;
};

/// Weights whose integers are scaled by parts of a super-block.
template <class W>
inline constexpr bool kHasSuperBlocks = requires {
  W::kSuper;
};

template <DType kType>
struct KMinWeights {
  static constexpr bool kSuper = true;
  static constexpr std::size_t kPiece = kBlock;
  static constexpr std::size_t kBytes = info_of(kType).block_bytes;
  static constexpr bool kFifthBit = kType == DType::q5_k;
  /// Of a rounded row of x: its sums are the factors of minimums.
  static constexpr std::int32_t kBias = -1;
  static constexpr std::size_t bytes(std::size_t elements) {
    return elements * kBytes / kSuperBlock;
  }
  struct Piece {
    KScales scales;
    const std::uint8_t* nibbles;
    const std::uint8_t* high;
    int part_index;
    HWY_INLINE Vf part(std::size_t p) const {
      auto q = bits_of(nibbles + p * kLanes, part_index % 2 * 4, 15);
      if constexpr (kFifthBit) {
        q = hn::Or(q, hn::ShiftLeft<4>(bits_of(high + p * kLanes, part_index, 1)));
      }
      return hn::MulSub(scales.scale, hn::ConvertTo(F32(), q), scales.minimum);
    }
  };
  static HWY_INLINE Piece piece(const std::byte* row, std::size_t i) {
    const std::byte* block = row + i / kSuperBlock * kBytes;
    const std::size_t j = i % kSuperBlock / kPiece;
    const auto* data = reinterpret_cast<const std::uint8_t*>(block);
    return {.scales = {block, j},
            .nibbles = data + (kFifthBit ? 48 : 16) + j / 2 * kPiece,
            .high = data + 16,
            .part_index = static_cast<int>(j)};
  }
};
using Q4KWeights = KMinWeights<DType::q4_k>;
using Q5KWeights = KMinWeights<DType::q5_k>;

struct Q6KWeights {
  static constexpr bool kSuper = true;
  static constexpr std::size_t kPiece = kBlock;
  static constexpr std::size_t kBytes = info_of(DType::q6_k).block_bytes;
  static constexpr std::int32_t kBias = 0;
  static constexpr std::size_t bytes(std::size_t elements) {
    return elements * kBytes / kSuperBlock;
  }
  struct Piece {
    Vf scales[2];  // of 16 elements each
    const std::uint8_t* nibbles;
    const std::uint8_t* high;
    int part_index;
    HWY_INLINE Vf part(std::size_t p) const {
      const auto low = bits_of(nibbles + p * kLanes, part_index % 4 / 2 * 4, 15);
      const auto two = bits_of(high + p * kLanes, part_index % 4 * 2, 3);
      const auto q = hn::Sub(hn::Or(low, hn::ShiftLeft<4>(two)), hn::Set(Words(), 32));
      return hn::Mul(scales[p * kLanes / 16], hn::ConvertTo(F32(), q));
    }
  };
  static HWY_INLINE Piece piece(const std::byte* row, std::size_t i) {
    const std::byte* block = row + i / kSuperBlock * kBytes;
    const std::size_t j = i % kSuperBlock / kPiece;
    const auto* data = reinterpret_cast<const std::uint8_t*>(block);
    const auto* factors = reinterpret_cast<const std::int8_t*>(block + 192) + 2 * j;
    const Vf common = block_scale(block + 208);
    const auto scale_of = [&](std::size_t half) REPRISE_INLINED {
      return hn::Mul(common, hn::Set(F32(), static_cast<float>(factors[half])));
    };
    return {.scales = {scale_of(0), scale_of(1)},
            .nibbles = data + j / 4 * 64 + j % 2 * kPiece,
            .high = data + 128 + j / 4 * kPiece,
            .part_index = static_cast<int>(j)};
  }
};

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
