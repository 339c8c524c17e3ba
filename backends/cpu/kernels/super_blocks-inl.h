// Rows of super-blocks, what a model's weights are in most often: q2_K to q6_K and iq4_xs. Layouts:
// framework/core/decode_super_blocks.cpp.
#include "backends/cpu/kernels/block_integers-inl.h"

#if defined(REPRISE_SUPER_BLOCKS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_SUPER_BLOCKS_INL_H
#undef REPRISE_SUPER_BLOCKS_INL_H
#else
#define REPRISE_SUPER_BLOCKS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

constexpr std::size_t kSuperBlock = 256;
/// Parts of 32 elements in a super-block.
constexpr std::size_t kSuperParts = kSuperBlock / kBlock;

template <class T>
HWY_INLINE T word_at(const std::uint8_t* from) {
  T word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

/// to[i] = factor * from[i], kCount integers.
template <class Integer, std::size_t kCount>
HWY_INLINE void scale_bytes(const void* from, float factor, float* to) {
  const hn::CappedTag<float, kCount> d;
  const hn::Rebind<Integer, decltype(d)> bytes;
  const hn::Rebind<std::int32_t, decltype(d)> words;
  for (std::size_t i = 0; i < kCount; i += hn::MaxLanes(d)) {
    const auto integers =
        hn::PromoteTo(words, hn::LoadU(bytes, static_cast<const Integer*>(from) + i));
    hn::Store(hn::Mul(hn::Set(d, factor), hn::ConvertTo(d, integers)), d, to + i);
  }
}

/// Calls f(first byte) for each vector of 32 bytes.
template <class F>
HWY_INLINE void for_each_vector(F&& f) {
#pragma GCC unroll 2
  for (std::size_t i = 0; i < kBlock; i += hn::MaxLanes(Bytes())) {
    f(i);
  }
}

/// The eight scales of 6 bits and the eight minimums of q4_K and q5_K, a byte each.
struct KParts {
  explicit HWY_INLINE KParts(const std::uint8_t* block) {
    constexpr std::uint32_t kSix = 0x3F3F3F3F, kFour = 0x0F0F0F0F, kTwo = 0x03030303;
    const auto a = word_at<std::uint32_t>(block + 4);
    const auto b = word_at<std::uint32_t>(block + 8);
    const auto c = word_at<std::uint32_t>(block + 12);
    const std::uint32_t high_scales = (c & kFour) | (a >> 6U & kTwo) << 4U;
    const std::uint32_t high_minimums = (c >> 4U & kFour) | (b >> 6U & kTwo) << 4U;
    scales = (a & kSix) | std::uint64_t{high_scales} << 32U;
    minimums = (b & kSix) | std::uint64_t{high_minimums} << 32U;
  }
  std::uint64_t scales, minimums;
};

template <DType kType>
struct KMinBlocks {
  static constexpr bool kFifthBit = kType == DType::q5_k;
  using Integers = BlockIntegers<kSuperBlock, kBlock, true>;

  static HWY_INLINE void unpack(const std::uint8_t* block, Integers& to) {
    const KParts parts(block);
    scale_bytes<std::uint8_t, kSuperParts>(&parts.scales, half_at(block), to.scales);
    scale_bytes<std::uint8_t, kSuperParts>(&parts.minimums, half_at(block + 2), to.minimums);
    const std::uint8_t* nibbles = block + (kFifthBit ? 48 : 16);
    for_each_vector([&](std::size_t i) REPRISE_INLINED {
      const auto high = hn::LoadU(Bytes(), block + 16 + i);
      put<0>(hn::LoadU(Bytes(), nibbles + i), high, to.q + i);
      put<2>(hn::LoadU(Bytes(), nibbles + 32 + i), high, to.q + i);
      put<4>(hn::LoadU(Bytes(), nibbles + 64 + i), high, to.q + i);
      put<6>(hn::LoadU(Bytes(), nibbles + 96 + i), high, to.q + i);
    });
  }

 private:
  /// Parts kPart and the next one.
  template <int kPart>
  static HWY_INLINE void put(hn::Vec<Bytes> both, hn::Vec<Bytes> high, std::int8_t* to) {
    const Bytes d;
    auto first = bits_of<0, 15>(d, both);
    auto second = bits_of<4, 15>(d, both);
    if constexpr (kFifthBit) {
      first = hn::Or(first, bits_of<kPart - 4, 16>(d, high));
      second = hn::Or(second, bits_of<kPart - 3, 16>(d, high));
    }
    store_integers(d, first, to + kPart * kBlock);
    store_integers(d, second, to + (kPart + 1) * kBlock);
  }
};

struct Q6KBlocks {
  using Integers = BlockIntegers<kSuperBlock, 16, false>;

  static HWY_INLINE void unpack(const std::uint8_t* block, Integers& to) {
    scale_bytes<std::int8_t, 16>(block + 192, half_at(block + 208), to.scales);
    unpack<32>(block, to.q);
  }
  /// The integers, which are kBias too large in the block.
  template <std::uint8_t kBias>
  static HWY_INLINE void unpack(const std::uint8_t* block, std::int8_t* to) {
#pragma GCC unroll 2
    for (std::size_t half = 0; half < 2; ++half) {
      for_each_vector([&](std::size_t i) REPRISE_INLINED {
        const auto first = hn::LoadU(Bytes(), block + half * 64 + i);
        const auto second = hn::LoadU(Bytes(), block + half * 64 + kBlock + i);
        const auto high = hn::LoadU(Bytes(), block + 128 + half * kBlock + i);
        const auto put = [](hn::Vec<Bytes> low, hn::Vec<Bytes> two,
                            std::int8_t* q) REPRISE_INLINED {
          store_integers(Bytes(), hn::Sub(hn::Or(low, two), hn::Set(Bytes(), kBias)), q);
        };
        std::int8_t* q = to + half * 128 + i;
        put(bits_of<0, 15>(Bytes(), first), bits_of<-4, 48>(Bytes(), high), q);
        put(bits_of<0, 15>(Bytes(), second), bits_of<-2, 48>(Bytes(), high), q + kBlock);
        put(bits_of<4, 15>(Bytes(), first), bits_of<0, 48>(Bytes(), high), q + 2 * kBlock);
        put(bits_of<4, 15>(Bytes(), second), bits_of<2, 48>(Bytes(), high), q + 3 * kBlock);
      });
    }
  }
};

/// q2_K and q3_K: two bits of 128 elements in 32 bytes; a third one for q3_K.
template <DType kType>
struct TwoBitBlocks {
  static constexpr bool kThirdBit = kType == DType::q3_k;
  using Integers = BlockIntegers<kSuperBlock, 16, !kThirdBit>;

  static HWY_NOINLINE void unpack(const std::uint8_t* block, Integers& to) {
    if constexpr (kThirdBit) {
      six_bit_scales(block, to);
    } else {
      const hn::FixedTag<std::uint8_t, 16> d;
      HWY_ALIGN std::uint8_t factors[2][16];
      const auto both = hn::LoadU(d, block);
      hn::Store(bits_of<0, 15>(d, both), d, factors[0]);
      hn::Store(bits_of<4, 15>(d, both), d, factors[1]);
      scale_bytes<std::uint8_t, 16>(factors[0], half_at(block + 80), to.scales);
      scale_bytes<std::uint8_t, 16>(factors[1], half_at(block + 82), to.minimums);
    }
    const std::uint8_t* low = block + (kThirdBit ? 32 : 16);
    for_each_vector([&](std::size_t i) REPRISE_INLINED {
      const auto third = hn::LoadU(Bytes(), block + i);
      put<0>(hn::LoadU(Bytes(), low + i), third, to.q + i);
      put<4>(hn::LoadU(Bytes(), low + kBlock + i), third, to.q + i);
    });
  }

 private:
  /// Parts of 32 from kPart on.
  template <int kPart>
  static HWY_INLINE void put(hn::Vec<Bytes> low, hn::Vec<Bytes> third, std::int8_t* to) {
    put_part<kPart, 0>(low, third, to);
    put_part<kPart + 1, 2>(low, third, to);
    put_part<kPart + 2, 4>(low, third, to);
    put_part<kPart + 3, 6>(low, third, to);
  }
  template <int kPart, int kShift>
  static HWY_INLINE void put_part(hn::Vec<Bytes> low, hn::Vec<Bytes> third, std::int8_t* to) {
    const Bytes d;
    auto q = bits_of<kShift, 3>(d, low);
    if constexpr (kThirdBit) {
      q = hn::Sub(hn::Or(q, bits_of<kPart - 2, 4>(d, third)), hn::Set(d, 4));
    }
    store_integers(d, q, to + kPart * kBlock);
  }
  /// 4 bits of each in 8 bytes, two more in 4.
  static HWY_INLINE void six_bit_scales(const std::uint8_t* block, Integers& to) {
    constexpr std::uint64_t kFour = 0x0F0F0F0F0F0F0F0F;
    constexpr std::uint32_t kTwo = 0x03030303;
    const auto low = word_at<std::uint64_t>(block + 96);
    const auto high = word_at<std::uint32_t>(block + 104);
    const auto two = [&](unsigned shift) REPRISE_INLINED {
      return ((high >> shift & kTwo) | std::uint64_t{high >> (shift + 2) & kTwo} << 32U) << 4U;
    };
    const std::uint64_t six[2] = {(low & kFour) | two(0), (low >> 4U & kFour) | two(4)};
    const hn::FixedTag<std::uint8_t, 16> d;
    HWY_ALIGN std::uint8_t scales[16];
    std::memcpy(scales, six, sizeof scales);
    hn::Store(hn::Sub(hn::Load(d, scales), hn::Set(d, 32)), d, scales);
    scale_bytes<std::int8_t, 16>(scales, half_at(block + 108), to.scales);
  }
};

struct Iq4XsBlocks {
  using Integers = BlockIntegers<kSuperBlock, kBlock, false>;

  static HWY_NOINLINE void unpack(const std::uint8_t* block, Integers& to) {
    const float factor = half_at(block);
    const auto high = word_at<std::uint16_t>(block + 2);
#pragma GCC unroll 8
    for (std::size_t part = 0; part < kSuperParts; ++part) {
      const unsigned low = static_cast<unsigned>(block[4 + part / 2]) >> part % 2 * 4 & 15U;
      const unsigned six = low | (static_cast<unsigned>(high) >> part * 2 & 3U) << 4U;
      to.scales[part] = factor * static_cast<float>(static_cast<std::int32_t>(six) - 32);
      const HalfBlock d;
      const auto both = hn::LoadU(d, block + 8 + part * 16);
      store_integers(d, levels_of(bits_of<0, 15>(d, both)), to.q + part * kBlock);
      store_integers(d, levels_of(bits_of<4, 15>(d, both)), to.q + part * kBlock + 16);
    }
  }
};

/// Weights of which there are products with rounded rows by super-blocks.
template <class W>
inline constexpr bool kHasSuperBlocks = requires {
  W::kSuper;
};

template <DType kType>
struct KMinWeights : UnpackedWeights<kType, KMinBlocks<kType>> {
  static constexpr bool kSuper = true;
  static constexpr bool kFifthBit = KMinBlocks<kType>::kFifthBit;
  /// Of a rounded row of x: its sums are the factors of minimums.
  static constexpr std::int32_t kBias = -1;
};
using Q4KWeights = KMinWeights<DType::q4_k>;
using Q5KWeights = KMinWeights<DType::q5_k>;

struct Q6KWeights : UnpackedWeights<DType::q6_k, Q6KBlocks> {
  static constexpr bool kSuper = true;
  static constexpr std::int32_t kBias = 0;
};

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
