#include "reprise/core/encode.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "framework/core/block_scale.h"
#include "reprise/backend/decode.h"

namespace reprise {
namespace {

constexpr std::size_t kBlock = 32;

std::uint16_t f32_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) {
    return static_cast<std::uint16_t>(bits >> 16U | 0x40U);  // NaN, kept quiet
  }
  return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16U & 1U)) >> 16U);
}

void encode_f32(const float* from, std::size_t elements, std::byte* to) {
  std::memcpy(to, from, elements * sizeof *from);
}

template <std::uint16_t (*narrow)(float)>
void encode_halves(const float* from, std::size_t elements, std::byte* to) {
  for (std::size_t i = 0; i < elements; ++i) {
    const std::uint16_t half = narrow(from[i]);
    std::memcpy(to + i * sizeof half, &half, sizeof half);
  }
}

/// The first value of the largest magnitude. Compared by bits: so a NaN is larger than any number.
float largest(const float* from) {
  const auto magnitude = [](float value) {
    return std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFU;
  };
  float found = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    found = magnitude(from[i]) > magnitude(found) ? from[i] : found;
  }
  return found;
}

/// A value as a number of steps.
float steps(const BlockScale& scale, float value) {
  return scale.finite ? value * scale.factor : 0;
}

BlockQ8 encode_q8_0(const float* from) {
  const BlockScale scale(std::abs(largest(from)) / 127);
  BlockQ8 block{scale.half, {}};
  for (std::size_t i = 0; i < kBlock; ++i) {
    block.values[i] = static_cast<std::int8_t>(std::round(steps(scale, from[i])));
  }
  return block;
}

BlockQ4 encode_q4_0(const float* from) {
  const BlockScale scale(largest(from) / -8);
  BlockQ4 block{scale.half, {}};
  const auto nibble = [&](float value) {
    return std::min(15U, static_cast<unsigned>(steps(scale, value) + 8.5F));
  };
  for (std::size_t i = 0; i < kBlock / 2; ++i) {
    block.nibbles[i] =
        static_cast<std::uint8_t>(nibble(from[i]) | nibble(from[i + kBlock / 2]) << 4U);
  }
  return block;
}

template <class Block, Block (*encode)(const float*)>
void encode_blocks(const float* from, std::size_t elements, std::byte* to) {
  for (std::size_t i = 0; i + kBlock <= elements; i += kBlock) {
    const Block block = encode(from + i);
    std::memcpy(to + i / kBlock * sizeof block, &block, sizeof block);
  }
}

}  // namespace

Encode encoder_of(DType type) {
  switch (type) {
    case DType::f32:
      return encode_f32;
    case DType::f16:
      return encode_halves<f32_to_f16>;
    case DType::bf16:
      return encode_halves<f32_to_bf16>;
    case DType::q8_0:
      return encode_blocks<BlockQ8, encode_q8_0>;
    case DType::q4_0:
      return encode_blocks<BlockQ4, encode_q4_0>;
    default:
      return nullptr;
  }
}

}  // namespace reprise
