// y = x, contiguous, as another type if asked: one invocation copies one element, or makes one block.
// Reads one element of x (of blocks its scale and neighbours too; 32 for a block), writes one of y.
// Works on bits where they are kept, so NaN and subnormals survive.
// wide: 16 bytes that lie side by side, so that no index is taken apart.
// variants: w32 w16 wide to/f16 to/bf16 to/q8_0 to/q4_0 from/f16 from/bf16 from/q8_0 from/q4_0 from/q4_1 from/q5_0 from/q5_1 from/q4_K from/q5_K from/q6_K from/q2_K from/q3_K from/iq4_nl from/iq4_xs
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_16bit_storage : require
#include "f16.glsl"
#include "index.glsl"
#include "view.glsl"

#if defined(VARIANT_F16) || defined(VARIANT_BF16)
#define HALVES
#endif
#if defined(VARIANT_WIDE)
#define FROM uvec4
#elif defined(VARIANT_W16) || (defined(VARIANT_FROM) && defined(HALVES))
#define FROM uint16_t
#else
#define FROM uint
#endif
#if defined(VARIANT_WIDE)
#define TO uvec4
#elif defined(VARIANT_W16) || defined(VARIANT_TO)
#define TO uint16_t
#else
#define TO uint
#endif
layout(binding = 0) readonly buffer X { FROM x[]; };
layout(binding = 1) writeonly buffer Y { TO y[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View xv;
  uint units;
};

#ifdef VARIANT_WIDE
void convert(uint i) { y[i] = x[i]; }
#else
uint x_bits(uint i) { return uint(x[at(xv, unflatten(i, shape))]); }
#endif

#if defined(VARIANT_WIDE)
#elif defined(VARIANT_TO) && !defined(HALVES)
#define ENCODED_BITS(i) x_bits(i)
#define ENCODED_HALF(i, half) y[i] = uint16_t(half)
#include "encode_block.glsl"
void convert(uint i) { encode_block(i * 32u, i * kEncodedHalves); }
#elif defined(VARIANT_FROM) && !defined(HALVES)
#define BLOCK_WORD(i) x[i]
#define BLOCK_HALF(h) uintBitsToFloat(f16_to_f32_bits(h))
#include "blocks.glsl"
void convert(uint i) {
  y[i] = floatBitsToUint(block_value(block_of(xv.offset, i), i % kBlockElements));
}
#else
uint converted(uint bits) {
#if defined(VARIANT_TO) && defined(VARIANT_F16)
  return f32_bits_to_f16(bits);
#elif defined(VARIANT_TO)
  return f32_bits_to_bf16(bits);
#elif defined(VARIANT_FROM) && defined(VARIANT_F16)
  return f16_to_f32_bits(bits);
#elif defined(VARIANT_FROM)
  return bits << 16;
#else
  return bits;
#endif
}
void convert(uint i) { y[i] = TO(converted(x_bits(i))); }
#endif

void main() {
  uint i = linear_index();
  if (i < units) {
    convert(i);
  }
}
