// Formats of 32 values to a block: see blocks.glsl, which includes this. Of nibbles, the low ones
// are the values 0 to 15, the high ones 16 to 31.
#if defined(VARIANT_Q4_1) || defined(VARIANT_Q5_1)
#define BLOCK_MINIMUM
vec2 part_scale(uint block, uint part) {
  return vec2(block_scalar(block, 0u), block_scalar(block, 2u));
}
#else
vec2 part_scale(uint block, uint part) { return vec2(block_scalar(block, 0u), 0.0); }
#endif

#if defined(VARIANT_Q8_0)
vec4 four_integers(uint block, uint four) { return signed_bytes(block_word(block, 2u + 4u * four)); }
#else
#if defined(VARIANT_Q4_1)
const uint kNibbles = 4u;
#elif defined(VARIANT_Q5_0)
const uint kHigh = 2u;
const uint kNibbles = 6u;
#elif defined(VARIANT_Q5_1)
const uint kHigh = 4u;
const uint kNibbles = 8u;
#else
const uint kNibbles = 2u;
#endif

vec4 four_integers(uint block, uint four) {
  uint low = block_word(block, kNibbles + four % 4u * 4u) >> four / 4u * 4u & 0x0F0F0F0Fu;
#if defined(VARIANT_IQ4_NL)
  return levels(low);
#elif defined(VARIANT_Q4_0)
  return nibbles(low);
#elif defined(VARIANT_Q4_1)
  return vec4(bytes_of(low));
#else
  // Bit i is the fifth one of value i.
  uint high = block_word(block, kHigh) >> four * 4u;
  uvec4 q = bytes_of(low) | (uvec4(high, high >> 1, high >> 2, high >> 3) & 1u) << 4;
#if defined(VARIANT_Q5_0)
  return vec4(ivec4(q) - 16);
#else
  return vec4(q);
#endif
#endif
}
#endif
