// Operands in texel buffers, RGBA of 32-bit unsigned integers: drivers that run a workgroup as a
// vector read storage buffers lane by lane, but fetch texels as vectors. Places count texels of 16
// bytes; float places count as elements / 4.
#if defined(VARIANT_Q8_0) || defined(VARIANT_Q4_0)
#define BLOCKS
#include "blocks.glsl"
#elif defined(VARIANT_F32) || defined(VARIANT_F16) || defined(VARIANT_BF16)
#define PLAIN_WEIGHTS
#endif
#define TEXELS(number, name) layout(binding = number) uniform utextureBuffer name

const uint kTexelFloats = 4u;

uvec4 words_at(utextureBuffer from, uint texel) { return texelFetch(from, int(texel)); }
vec4 floats_at(utextureBuffer from, uint texel) { return uintBitsToFloat(words_at(from, texel)); }
// Four of the 8 halves of a texel, from an element that is a multiple of 4.
vec4 halves_at(utextureBuffer from, uint element) {
  uvec4 texel = words_at(from, element / 8u);
  uvec2 halves = (element & 4u) == 0u ? texel.xy : texel.zw;
  return vec4(unpackHalf2x16(halves.x), unpackHalf2x16(halves.y));
}

// Words that begin at any 16-bit unit: `half_at` counts them. Every texel that holds one of the
// first kBlockHalves units is read, and no other.
#ifdef BLOCKS
const uint kBlockTexels = kBlockHalves / 8u + 1u;
const uint kBlockWords = kBlockHalves / 2u;  // of the values; a half with the scale comes first

struct Block {
  uint words[kBlockWords];
  float scale;
};

Block block_at(utextureBuffer from, uint half_at) {
  uint whole[4u * kBlockTexels];
  for (uint i = 0; i < kBlockTexels; ++i) {
    uvec4 texel = words_at(from, half_at / 8u + i);
    whole[4u * i] = texel.x;
    whole[4u * i + 1u] = texel.y;
    whole[4u * i + 2u] = texel.z;
    whole[4u * i + 3u] = texel.w;
  }
  // The first unit is one of 8 in its texel: a move by 2 words, by 1 and by a half, if need be.
  uint pairs[kBlockWords + 2u];
  for (uint i = 0; i < kBlockWords + 2u; ++i) {
    pairs[i] = (half_at & 4u) != 0u ? whole[i + 2u] : whole[i];
  }
  uint words[kBlockWords + 1u];
  for (uint i = 0; i < kBlockWords + 1u; ++i) {
    words[i] = (half_at & 2u) != 0u ? pairs[i + 1u] : pairs[i];
  }
  bool odd = (half_at & 1u) != 0u;
  Block block;
  block.scale = unpackHalf2x16(odd ? words[0] >> 16 : words[0]).x;
  for (uint i = 0; i < kBlockWords; ++i) {
    block.words[i] = odd ? words[i + 1u] : words[i] >> 16 | words[i + 1u] << 16;
  }
  return block;
}
#endif
