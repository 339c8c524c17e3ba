// Formats of 256 values to a block: see blocks.glsl, which includes this.

// Where 4 values of 2 bits lie in bytes 0 to 63, and by how many bits up: 128 values share 32 bytes.
uint byte_of_pairs(uint four) { return four / 32u * 32u + four % 8u * 4u; }
uint shift_of_pairs(uint four) { return four / 8u % 4u * 2u; }

#if defined(VARIANT_Q4_K) || defined(VARIANT_Q5_K)
#define BLOCK_MINIMUM
const uint kScales = 4u;
#if defined(VARIANT_Q4_K)
const uint kNibbles = 16u;
#else
const uint kHigh = 16u;
const uint kNibbles = 48u;
#endif

vec2 part_scale(uint block, uint part) {
  uint j = part / 2u;
  uint a = block_byte(block, kScales + j);
  uint b = block_byte(block, kScales + j + 4u);
  uint scale = a & 63u;
  uint minimum = b & 63u;
  if (j >= 4u) {
    scale = b & 15u | block_byte(block, kScales + j - 4u) >> 6 << 4;
    minimum = b >> 4 | a >> 6 << 4;
  }
  return vec2(block_scalar(block, 0u) * float(scale),
              -(block_scalar(block, 2u) * float(minimum)));
}

vec4 four_integers(uint block, uint four) {
  uint q = block_word(block, kNibbles + four / 16u * 32u + four % 8u * 4u);
  q = q >> four / 8u % 2u * 4u & 0x0F0F0F0Fu;
#if defined(VARIANT_Q5_K)
  q |= (block_word(block, kHigh + four % 8u * 4u) >> four / 8u & 0x01010101u) << 4;
#endif
  return vec4(bytes_of(q));
}
#elif defined(VARIANT_Q6_K)
const uint kHigh = 128u;
const uint kScales = 192u;

vec2 part_scale(uint block, uint part) {
  int scale = int(block_byte(block, kScales + part) << 24) >> 24;
  return vec2(block_scalar(block, 208u) * float(scale), 0.0);
}

vec4 four_integers(uint block, uint four) {
  uint low = block_word(block, four / 32u * 64u + four % 16u * 4u) >> four / 16u % 2u * 4u;
  uint high = block_word(block, kHigh + byte_of_pairs(four)) >> shift_of_pairs(four);
  return vec4(ivec4(bytes_of(low & 0x0F0F0F0Fu | (high & 0x03030303u) << 4)) - 32);
}
#elif defined(VARIANT_Q2_K)
#define BLOCK_MINIMUM
const uint kPairs = 16u;

vec2 part_scale(uint block, uint part) {
  uint scales = block_byte(block, part);
  return vec2(block_scalar(block, 80u) * float(scales & 15u),
              -(block_scalar(block, 82u) * float(scales >> 4)));
}

vec4 four_integers(uint block, uint four) {
  uint pairs = block_word(block, kPairs + byte_of_pairs(four)) >> shift_of_pairs(four);
  return vec4(bytes_of(pairs & 0x03030303u));
}
#elif defined(VARIANT_Q3_K)
const uint kPairs = 32u;
const uint kScales = 96u;

vec2 part_scale(uint block, uint part) {
  uint low = block_byte(block, kScales + part % 8u) >> part / 8u * 4u & 15u;
  uint high = block_byte(block, kScales + 8u + part % 4u) >> part / 4u * 2u & 3u;
  return vec2(block_scalar(block, 108u) * float(int(low | high << 4) - 32), 0.0);
}

vec4 four_integers(uint block, uint four) {
  uint pairs = block_word(block, kPairs + byte_of_pairs(four)) >> shift_of_pairs(four);
  uint high = block_word(block, four % 8u * 4u) >> four / 8u;
  return vec4(ivec4(bytes_of(pairs & 0x03030303u | (high & 0x01010101u) << 2)) - 4);
}
#elif defined(VARIANT_IQ4_XS)
const uint kNibbles = 8u;

vec2 part_scale(uint block, uint part) {
  uint j = part / 2u;
  uint low = block_byte(block, 4u + j / 2u) >> j % 2u * 4u & 15u;
  uint high = block_half(block, 2u) >> j * 2u & 3u;
  return vec2(block_scalar(block, 0u) * float(int(low | high << 4) - 32), 0.0);
}

vec4 four_integers(uint block, uint four) {
  uint q = block_word(block, kNibbles + four / 8u * 16u + four % 4u * 4u);
  return levels(q >> four / 4u % 2u * 4u & 0x0F0F0F0Fu);
}
#endif
