// Decoders of block formats, by the number of elements of their blocks. Layouts: ggml-common.h.
#pragma once
#include <cstdint>
#include <cstring>

#include "reprise/backend/decode.h"

namespace reprise {

/// Null if the format has other blocks.
Decode decoder_of_blocks(DType type);
Decode decoder_of_super_blocks(DType type);

/// The levels that the nibbles of iq4_nl and iq4_xs stand for.
inline constexpr std::int8_t kIq4Levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                               1,    13,   25,  38,  53,  69,  89,  113};

/// Calls decode(block, to) for one block of the type after another.
template <DType kType, class Block, void (*decode)(const Block&, float*)>
void decode_blocks(const std::byte* from, std::size_t elements, float* to) {
  static_assert(sizeof(Block) == info_of(kType).block_bytes);
  constexpr std::size_t kElements = info_of(kType).block_elements;
  for (std::size_t i = 0; i + kElements <= elements; i += kElements) {
    Block block;
    std::memcpy(&block, from + i / kElements * sizeof block, sizeof block);
    decode(block, to + i);
  }
}

}  // namespace reprise
