// Blocks of 32 values. Of nibbles, the low ones are the values 0 to 15, the high ones 16 to 31.
#include "framework/core/block_decoders.h"
#include "framework/core/float16.h"

namespace reprise {
namespace {

constexpr std::size_t kBlockElements = 32;

/// Value i is scale * nibble i + minimum.
struct BlockQ4Min {
  std::uint16_t scale, minimum;  // half precision
  std::uint8_t nibbles[16];
};

/// Value i is scale * (q - 16); bit i of `high` is the fifth bit of q.
struct BlockQ5 {
  std::uint16_t scale;
  std::uint8_t high[4];
  std::uint8_t nibbles[16];
};

/// Value i is scale * q + minimum.
struct BlockQ5Min {
  std::uint16_t scale, minimum;
  std::uint8_t high[4];
  std::uint8_t nibbles[16];
};

/// to[i] = f(integer i of a block), its fifth bit from `high` if there is one.
template <class F>
void for_each_nibble(const std::uint8_t* nibbles, const std::uint8_t* high, float* to, F&& f) {
  std::uint32_t bits = 0;
  if (high != nullptr) {
    std::memcpy(&bits, high, sizeof bits);
  }
  for (std::size_t i = 0; i < kBlockElements / 2; ++i) {
    to[i] = f((nibbles[i] & 15U) | (bits >> i & 1U) << 4U);
    to[i + 16] = f((nibbles[i] >> 4U) | (bits >> (i + 16) & 1U) << 4U);
  }
}

/// scale * (integer - bias).
auto centred(std::uint16_t scale, std::int32_t bias) {
  return [factor = f16_to_f32(scale), bias](std::uint32_t q) {
    return factor * static_cast<float>(static_cast<std::int32_t>(q) - bias);
  };
}

auto above(std::uint16_t scale, std::uint16_t minimum) {
  return [factor = f16_to_f32(scale), min = f16_to_f32(minimum)](std::uint32_t q) {
    return factor * static_cast<float>(q) + min;
  };
}

void decode_q8_0(const BlockQ8& block, float* to) {
  const float scale = f16_to_f32(block.scale);
  for (std::size_t i = 0; i < kBlockElements; ++i) {
    to[i] = scale * static_cast<float>(block.values[i]);
  }
}

void decode_q4_0(const BlockQ4& block, float* to) {
  for_each_nibble(block.nibbles, nullptr, to, centred(block.scale, 8));
}

void decode_q4_1(const BlockQ4Min& block, float* to) {
  for_each_nibble(block.nibbles, nullptr, to, above(block.scale, block.minimum));
}

void decode_q5_0(const BlockQ5& block, float* to) {
  for_each_nibble(block.nibbles, block.high, to, centred(block.scale, 16));
}

void decode_q5_1(const BlockQ5Min& block, float* to) {
  for_each_nibble(block.nibbles, block.high, to, above(block.scale, block.minimum));
}

void decode_iq4_nl(const BlockQ4& block, float* to) {
  const float scale = f16_to_f32(block.scale);
  for_each_nibble(block.nibbles, nullptr, to,
                  [=](std::uint32_t q) { return scale * static_cast<float>(kIq4Levels[q]); });
}

}  // namespace

Decode decoder_of_blocks(DType type) {
  switch (type) {
    case DType::q8_0:
      return decode_blocks<DType::q8_0, BlockQ8, decode_q8_0>;
    case DType::q4_0:
      return decode_blocks<DType::q4_0, BlockQ4, decode_q4_0>;
    case DType::q4_1:
      return decode_blocks<DType::q4_1, BlockQ4Min, decode_q4_1>;
    case DType::q5_0:
      return decode_blocks<DType::q5_0, BlockQ5, decode_q5_0>;
    case DType::q5_1:
      return decode_blocks<DType::q5_1, BlockQ5Min, decode_q5_1>;
    case DType::iq4_nl:
      return decode_blocks<DType::iq4_nl, BlockQ4, decode_iq4_nl>;
    default:
      return nullptr;
  }
}

}  // namespace reprise
