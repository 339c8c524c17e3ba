// Conversion of weights of every format to f32; the only code that knows the layout of blocks.
#pragma once
#include <cstddef>
#include <cstdint>

#include "reprise/core/dtype.h"

namespace reprise {

/// Value i is scale * values[i]; the product is exact in f32.
struct BlockQ8 {
  std::uint16_t scale;  // half precision
  std::int8_t values[32];
};

/// Value i is scale * (nibble i - 8), exact in f32. The low nibbles are the values 0 to 15, the
/// high ones 16 to 31.
struct BlockQ4 {
  std::uint16_t scale;  // half precision
  std::uint8_t nibbles[16];
};

/// Converts consecutive elements, whole blocks. `from` needs no alignment.
using Decode = void (*)(const std::byte* from, std::size_t elements, float* to);
/// Returns the decoder of a dtype; null for i32 and i64. Values of blocks are rounded at most once,
/// where a minimum is added or subtracted. The grouping of their factors changes no bit.
Decode decoder_of(DType type);

}  // namespace reprise
