// Four neighbouring values of q8_0 blocks: Q8_FOUR(name, words) defines the function `name` over a
// buffer of 32-bit words. `offset` is the place of element 0, `element` a multiple of 4. Define
// VARIANT_Q8_0 first.
#include "blocks.glsl"

#define Q8_FOUR(name, words)                                                \
  vec4 name(uint offset, uint element) {                                    \
    uint block = block_of(offset, element);                                 \
    uint from = block + 1u + element % 32u / 2u;                            \
    float scale = unpackHalf2x16(words[block >> 1] >> ((block & 1u) * 16u)).x; \
    uint four = words[from >> 1];                                           \
    if ((from & 1u) != 0u) {                                                \
      four = four >> 16 | words[(from >> 1) + 1u] << 16;                    \
    }                                                                       \
    return scale * signed_bytes(four);                                      \
  }
