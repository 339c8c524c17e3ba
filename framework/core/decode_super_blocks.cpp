// Super-blocks of 256 values: parts of 16 or 32 with scales of few bits, one or two halves that
// scale those.
#include "framework/core/block_decoders.h"
#include "framework/core/float16.h"

namespace reprise {
namespace {

constexpr std::size_t kSuperBlockElements = 256;

/// Value i is scale * (low bits of scales[i / 16]) * q - minimum * (high bits).
struct BlockQ2K {
  std::uint8_t scales[16];
  std::uint8_t low[64];  // 2 bits each
  std::uint16_t scale, minimum;
};

/// Value i is scale * (s - 32) * (q - 4), with s of 6 bits for 16 values.
struct BlockQ3K {
  std::uint8_t high[32];  // bit i / 32 of byte i % 32
  std::uint8_t low[64];   // 2 bits each
  std::uint8_t scales[12];
  std::uint16_t scale;
};

/// Value i is scale * s * q - minimum * m, with s and m of 6 bits for 32 values.
struct BlockQ4K {
  std::uint16_t scale, minimum;
  std::uint8_t scales[12];
  std::uint8_t nibbles[128];
};
struct BlockQ5K {
  std::uint16_t scale, minimum;
  std::uint8_t scales[12];
  std::uint8_t high[32];  // bit i / 32 of byte i % 32
  std::uint8_t nibbles[128];
};

/// Value i is scale * scales[i / 16] * (q - 32).
struct BlockQ6K {
  std::uint8_t nibbles[128];
  std::uint8_t high[64];  // 2 bits each
  std::int8_t scales[16];
  std::uint16_t scale;
};

/// Value i is scale * (s - 32) * level of nibble i, with s of 6 bits for 32 values.
struct BlockIq4Xs {
  std::uint16_t scale;
  std::uint16_t scales_high;
  std::uint8_t scales_low[4];
  std::uint8_t nibbles[128];
};

/// The 2 bits of value i among those of 128 values in 32 bytes, 32 values to each pair of bits.
std::uint32_t two_bits(const std::uint8_t* bytes, std::size_t i) {
  return static_cast<std::uint32_t>(bytes[i / 128 * 32 + i % 32]) >> (i / 32 % 4 * 2) & 3U;
}

/// The bit of value i among 256 in 32 bytes.
std::uint32_t one_bit(const std::uint8_t* bytes, std::size_t i) {
  return static_cast<std::uint32_t>(bytes[i % 32]) >> (i / 32) & 1U;
}

/// The nibble of value i: 32 low ones of 32 bytes, then the 32 high ones.
std::uint32_t nibble(const std::uint8_t* bytes, std::size_t i) {
  return static_cast<std::uint32_t>(bytes[i / 64 * 32 + i % 32]) >> (i / 32 % 2 * 4) & 15U;
}

/// A signed scale of which 4 bits and 2 bits are stored apart.
float six_bits(std::uint32_t low, std::uint32_t high) {
  return static_cast<float>(static_cast<std::int32_t>(low | high << 4U) - 32);
}

/// Those of part j of 8 in q4_K and q5_K, of 6 bits each before they are scaled.
struct ScaleAndMinimum {
  template <class Block>
  ScaleAndMinimum(const Block& block, std::size_t j) {
    const std::uint32_t a = block.scales[j];
    const std::uint32_t b = block.scales[j + 4];
    const std::uint32_t before = j < 4 ? 0 : block.scales[j - 4];
    const std::uint32_t s = j < 4 ? a & 63U : (b & 15U) | before >> 6U << 4U;
    const std::uint32_t m = j < 4 ? b & 63U : b >> 4U | a >> 6U << 4U;
    scale = f16_to_f32(block.scale) * static_cast<float>(s);
    minimum = f16_to_f32(block.minimum) * static_cast<float>(m);
  }
  float scale, minimum;
};

/// Calls decode_part(part) for parts of kPart values, whose results take the index of a value.
template <std::size_t kPart, class F>
void for_each_part(float* to, F&& decode_part) {
  for (std::size_t part = 0; part < kSuperBlockElements / kPart; ++part) {
    const auto value = decode_part(part);
    for (std::size_t i = part * kPart; i < (part + 1) * kPart; ++i) {
      to[i] = value(i);
    }
  }
}

void decode_q2_k(const BlockQ2K& block, float* to) {
  for_each_part<16>(to, [&](std::size_t part) {
    const std::uint32_t s = block.scales[part];
    const float scale = f16_to_f32(block.scale) * static_cast<float>(s & 15U);
    const float minimum = f16_to_f32(block.minimum) * static_cast<float>(s >> 4U);
    return [&block, scale, minimum](std::size_t i) {
      return scale * static_cast<float>(two_bits(block.low, i)) - minimum;
    };
  });
}

void decode_q3_k(const BlockQ3K& block, float* to) {
  for_each_part<16>(to, [&](std::size_t part) {
    const std::uint32_t low =
        static_cast<std::uint32_t>(block.scales[part % 8]) >> (part / 8 * 4) & 15U;
    const std::uint32_t high =
        static_cast<std::uint32_t>(block.scales[8 + part % 4]) >> (part / 4 * 2) & 3U;
    const float scale = f16_to_f32(block.scale) * six_bits(low, high);
    return [&block, scale](std::size_t i) {
      const std::uint32_t q = two_bits(block.low, i) | one_bit(block.high, i) << 2U;
      return scale * static_cast<float>(static_cast<std::int32_t>(q) - 4);
    };
  });
}

void decode_q4_k(const BlockQ4K& block, float* to) {
  for_each_part<32>(to, [&](std::size_t part) {
    const ScaleAndMinimum s(block, part);
    return [&block, s](std::size_t i) {
      return s.scale * static_cast<float>(nibble(block.nibbles, i)) - s.minimum;
    };
  });
}

void decode_q5_k(const BlockQ5K& block, float* to) {
  for_each_part<32>(to, [&](std::size_t part) {
    const ScaleAndMinimum s(block, part);
    return [&block, s](std::size_t i) {
      const std::uint32_t q = nibble(block.nibbles, i) | one_bit(block.high, i) << 4U;
      return s.scale * static_cast<float>(q) - s.minimum;
    };
  });
}

void decode_q6_k(const BlockQ6K& block, float* to) {
  for_each_part<16>(to, [&](std::size_t part) {
    const float scale = f16_to_f32(block.scale) * static_cast<float>(block.scales[part]);
    return [&block, scale](std::size_t i) {
      const std::uint32_t byte = block.nibbles[i / 128 * 64 + i % 64];
      const std::uint32_t q = (byte >> (i / 64 % 2 * 4) & 15U) | two_bits(block.high, i) << 4U;
      return scale * static_cast<float>(static_cast<std::int32_t>(q) - 32);
    };
  });
}

void decode_iq4_xs(const BlockIq4Xs& block, float* to) {
  for_each_part<32>(to, [&](std::size_t part) {
    const std::uint32_t low =
        static_cast<std::uint32_t>(block.scales_low[part / 2]) >> (part % 2 * 4) & 15U;
    const std::uint32_t high = static_cast<std::uint32_t>(block.scales_high) >> (part * 2) & 3U;
    const float scale = f16_to_f32(block.scale) * six_bits(low, high);
    return [&block, part, scale](std::size_t i) {
      const std::uint32_t byte = block.nibbles[part * 16 + i % 16];
      return scale * static_cast<float>(kIq4Levels[byte >> (i / 16 % 2 * 4) & 15U]);
    };
  });
}

}  // namespace

Decode decoder_of_super_blocks(DType type) {
  switch (type) {
    case DType::q2_k:
      return decode_blocks<DType::q2_k, BlockQ2K, decode_q2_k>;
    case DType::q3_k:
      return decode_blocks<DType::q3_k, BlockQ3K, decode_q3_k>;
    case DType::q4_k:
      return decode_blocks<DType::q4_k, BlockQ4K, decode_q4_k>;
    case DType::q5_k:
      return decode_blocks<DType::q5_k, BlockQ5K, decode_q5_k>;
    case DType::q6_k:
      return decode_blocks<DType::q6_k, BlockQ6K, decode_q6_k>;
    case DType::iq4_xs:
      return decode_blocks<DType::iq4_xs, BlockIq4Xs, decode_iq4_xs>;
    default:
      return nullptr;
  }
}

}  // namespace reprise
