// Blocks of 32 quantised weights. They are 34 (q8_0) or 18 (q4_0) bytes long, so few begin with a
// word: places count units of 16 bits. The layouts are those of core/decode.h. To read them from a
// buffer of 32-bit words, define BLOCK_WORD(i) as word i of the buffer first.
#if defined(VARIANT_Q8_0)
const uint kBlockHalves = 17u;
#else
const uint kBlockHalves = 9u;
#endif

// The place of an element's block; `offset` is the place of element 0.
uint block_of(uint offset, uint element) { return offset + element / 32u * kBlockHalves; }

#ifdef BLOCK_WORD
uint block_half(uint at) { return BLOCK_WORD(at >> 1) >> ((at & 1u) * 16u) & 0xFFFFu; }

// Bits of its scale, in half precision.
uint block_scale(uint block) { return block_half(block); }

// The signed integer of element i of a block, i below 32.
int block_value(uint block, uint i) {
#if defined(VARIANT_Q8_0)
  return bitfieldExtract(int(block_half(block + 1u + i / 2u)), int(i % 2u * 8u), 8);
#else
  uint from = i % 16u;
  uint shift = from % 2u * 8u + i / 16u * 4u;
  return int(block_half(block + 1u + from / 2u) >> shift & 15u) - 8;
#endif
}
#endif

vec4 signed_bytes(uint word) {
  ivec4 bytes = ivec4(word << 24, word << 16, word << 8, word);
  return vec4(bytes >> 24);
}

vec4 nibbles(uint word) {
  uvec4 bytes = uvec4(word, word >> 8, word >> 16, word >> 24) & 15u;
  return vec4(ivec4(bytes) - 8);
}

#ifdef BLOCK_WORD
// All 32 values, reading every word once.
void load_block(uint block, out vec4 values[8]) {
  bool odd = (block & 1u) != 0u;
  uint at = block >> 1;
  uint word = BLOCK_WORD(at);
  float scale = unpackHalf2x16(odd ? word >> 16 : word).x;
#if defined(VARIANT_Q8_0)
  for (uint i = 0; i < 8u; ++i) {
    uint next = BLOCK_WORD(at + 1u + i);
    values[i] = scale * signed_bytes(odd ? next : word >> 16 | next << 16);
    word = next;
  }
#else
  for (uint i = 0; i < 4u; ++i) {
    uint next = BLOCK_WORD(at + 1u + i);
    uint packed = odd ? next : word >> 16 | next << 16;
    values[i] = scale * nibbles(packed);
    values[i + 4u] = scale * nibbles(packed >> 4);
    word = next;
  }
#endif
}
#endif
