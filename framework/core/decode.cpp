#include "reprise/core/decode.h"

#include <cstring>

#include "reprise/core/float16.h"

namespace reprise {
namespace {

static_assert(sizeof(BlockQ8) == info_of(DType::q8_0).block_bytes);
static_assert(sizeof(BlockQ4) == info_of(DType::q4_0).block_bytes);

/// Calls f(stored, to) for one plain element or block after another.
template <class Stored, std::size_t Count, class F>
void for_each(const std::byte* from, std::size_t elements, float* to, F&& f) {
  for (std::size_t i = 0; i + Count <= elements; i += Count) {
    Stored stored;
    std::memcpy(&stored, from + i / Count * sizeof stored, sizeof stored);
    f(stored, to + i);
  }
}

void decode_f32(const std::byte* from, std::size_t elements, float* to) {
  std::memcpy(to, from, elements * sizeof *to);
}

void decode_f16(const std::byte* from, std::size_t elements, float* to) {
  for_each<std::uint16_t, 1>(from, elements, to,
                             [](std::uint16_t half, float* out) { *out = f16_to_f32(half); });
}

void decode_bf16(const std::byte* from, std::size_t elements, float* to) {
  for_each<std::uint16_t, 1>(from, elements, to,
                             [](std::uint16_t half, float* out) { *out = bf16_to_f32(half); });
}

void decode_q8_0(const std::byte* from, std::size_t elements, float* to) {
  for_each<BlockQ8, 32>(from, elements, to, [](const BlockQ8& block, float* out) {
    const float scale = f16_to_f32(block.scale);
    for (std::size_t i = 0; i < 32; ++i) {
      out[i] = scale * static_cast<float>(block.values[i]);
    }
  });
}

void decode_q4_0(const std::byte* from, std::size_t elements, float* to) {
  for_each<BlockQ4, 32>(from, elements, to, [](const BlockQ4& block, float* out) {
    const float scale = f16_to_f32(block.scale);
    for (std::size_t i = 0; i < 16; ++i) {
      out[i] = scale * static_cast<float>((block.nibbles[i] & 15) - 8);
      out[i + 16] = scale * static_cast<float>((block.nibbles[i] >> 4) - 8);
    }
  });
}

}  // namespace

Decode decoder_of(DType type) {
  switch (type) {
    case DType::f32:
      return decode_f32;
    case DType::f16:
      return decode_f16;
    case DType::bf16:
      return decode_bf16;
    case DType::q8_0:
      return decode_q8_0;
    case DType::q4_0:
      return decode_q4_0;
    default:
      return nullptr;
  }
}

}  // namespace reprise
