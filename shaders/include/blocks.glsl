// Blocks of quantised weights, of a number of bytes that is no multiple of 4: places count units of
// 16 bits. The layouts are those of framework/core/decode_blocks.cpp and decode_super_blocks.cpp.
// The variant is the format. To read blocks from a buffer of 32-bit words, define BLOCK_WORD(i) as
// word i of the buffer first; BLOCK_HALF(h) too where scales have to be those of every driver: the
// default may flush subnormal ones.
#if defined(VARIANT_Q8_0)
const uint kBlockHalves = 17u;
#elif defined(VARIANT_Q4_0) || defined(VARIANT_IQ4_NL)
const uint kBlockHalves = 9u;
#elif defined(VARIANT_Q4_1)
const uint kBlockHalves = 10u;
#elif defined(VARIANT_Q5_0)
const uint kBlockHalves = 11u;
#elif defined(VARIANT_Q5_1)
const uint kBlockHalves = 12u;
#else
#define SUPER_BLOCKS
#if defined(VARIANT_Q2_K)
const uint kBlockHalves = 42u;
#elif defined(VARIANT_Q3_K)
const uint kBlockHalves = 55u;
#elif defined(VARIANT_Q4_K)
const uint kBlockHalves = 72u;
#elif defined(VARIANT_Q5_K)
const uint kBlockHalves = 88u;
#elif defined(VARIANT_Q6_K)
const uint kBlockHalves = 105u;
#elif defined(VARIANT_IQ4_XS)
const uint kBlockHalves = 68u;
#endif
#endif
#ifdef SUPER_BLOCKS
const uint kBlockElements = 256u;
#else
const uint kBlockElements = 32u;
#endif

// The place of an element's block; `offset` is the place of element 0.
uint block_of(uint offset, uint element) {
  return offset + element / kBlockElements * kBlockHalves;
}

vec4 signed_bytes(uint word) {
  ivec4 bytes = ivec4(word << 24, word << 16, word << 8, word);
  return vec4(bytes >> 24);
}

uvec4 bytes_of(uint word) { return uvec4(word, word >> 8, word >> 16, word >> 24) & 255u; }

vec4 nibbles(uint word) {
  uvec4 bytes = uvec4(word, word >> 8, word >> 16, word >> 24) & 15u;
  return vec4(ivec4(bytes) - 8);
}

#ifdef BLOCK_WORD
#ifndef BLOCK_HALF
#define BLOCK_HALF(h) unpackHalf2x16(h).x
#endif

// `byte` of a block, even where more than one is read.
uint block_half(uint block, uint byte) {
  uint at = block + byte / 2u;
  return BLOCK_WORD(at >> 1) >> ((at & 1u) * 16u) & 0xFFFFu;
}
uint block_byte(uint block, uint byte) {
  return block_half(block, byte) >> (byte & 1u) * 8u & 0xFFu;
}
uint block_word(uint block, uint byte) {
  uint at = block + byte / 2u;
  uint word = BLOCK_WORD(at >> 1);
  if ((at & 1u) != 0u) {
    word = word >> 16 | BLOCK_WORD((at >> 1) + 1u) << 16;
  }
  return word;
}
float block_scalar(uint block, uint byte) { return BLOCK_HALF(block_half(block, byte)); }

#if defined(VARIANT_IQ4_NL) || defined(VARIANT_IQ4_XS)
const float kLevels[16] = float[16](-127.0, -104.0, -83.0, -65.0, -49.0, -35.0, -22.0, -10.0, 1.0,
                                    13.0, 25.0, 38.0, 53.0, 69.0, 89.0, 113.0);
vec4 levels(uint word) {
  uvec4 q = bytes_of(word);
  return vec4(kLevels[q.x], kLevels[q.y], kLevels[q.z], kLevels[q.w]);
}
#endif

// What the format is, for all below: part_scale(), the factor of 16 values, and what is added to
// them if they have a minimum (BLOCK_MINIMUM); four_integers(), 4 neighbouring values without both.
#ifdef SUPER_BLOCKS
#include "blocks_256.glsl"
#else
#include "blocks_32.glsl"
#endif

// Exact products of few bits: the one rounding is that of the sum, fused or not.
vec4 scaled(vec2 scale, vec4 integers) {
#ifdef BLOCK_MINIMUM
  return fma(vec4(scale.x), integers, vec4(scale.y));
#else
  return scale.x * integers;
#endif
}

// The value of element i of a block.
float block_value(uint block, uint i) {
  return scaled(part_scale(block, i / 16u), four_integers(block, i / 4u))[i % 4u];
}

// 16 values from 16 * part on.
void load_part(uint block, uint part, out vec4 values[4]) {
  vec2 scale = part_scale(block, part);
  for (uint i = 0; i < 4u; ++i) {
    values[i] = scaled(scale, four_integers(block, part * 4u + i));
  }
}

#if defined(VARIANT_Q8_0) || defined(VARIANT_Q4_0)
#define STREAMED_BLOCKS
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
#endif
