#include "reprise/backend/decode.h"

#include <cstring>

#include "framework/core/block_decoders.h"
#include "framework/core/float16.h"

namespace reprise {
namespace {

void decode_f32(const std::byte* from, std::size_t elements, float* to) {
  std::memcpy(to, from, elements * sizeof *to);
}

template <float (*widen)(std::uint16_t)>
void decode_halves(const std::byte* from, std::size_t elements, float* to) {
  for (std::size_t i = 0; i < elements; ++i) {
    std::uint16_t half;
    std::memcpy(&half, from + i * sizeof half, sizeof half);
    to[i] = widen(half);
  }
}

}  // namespace

Decode decoder_of(DType type) {
  switch (type) {
    case DType::f32:
      return decode_f32;
    case DType::f16:
      return decode_halves<f16_to_f32>;
    case DType::bf16:
      return decode_halves<bf16_to_f32>;
    default:
      return info_of(type).block_elements == 32 ? decoder_of_blocks(type)
                                                : decoder_of_super_blocks(type);
  }
}

}  // namespace reprise
