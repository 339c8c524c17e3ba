// Weights as one invocation reads them: units of 16 bytes of plain weights, or half a block of
// quantised ones, decoded to f32 in fours of neighbouring columns. The variant is the format. Define
// WIDE (rows of plain weights begin at multiples of 16 bytes and have
// whole units), `uint k` and the buffer `w` first: of uvec4 if plain, else of words.
#if defined(VARIANT_F32) || defined(VARIANT_F16) || defined(VARIANT_BF16)
#define PLAIN_WEIGHTS
#endif
#if defined(VARIANT_F32)
const uint kUnitFours = 1u;
#elif defined(PLAIN_WEIGHTS)
const uint kUnitFours = 2u;
#else
const uint kUnitFours = 4u;
#endif
const uint kUnit = 4u * kUnitFours;

#ifdef PLAIN_WEIGHTS
// The first column of four `i` of a unit.
uint unit_column(uint unit, uint i) { return unit * kUnit + 4u * i; }

uint unit_row(uint offset, uint element) { return offset + element; }

#if defined(VARIANT_F16)
vec2 pair_of(uint word) { return unpackHalf2x16(word); }
#elif defined(VARIANT_BF16)
vec2 pair_of(uint word) { return uintBitsToFloat(uvec2(word << 16, word & 0xFFFF0000u)); }
#endif

float weight_element(uint e) {
#if defined(VARIANT_F32)
  return uintBitsToFloat(w[e >> 2][e & 3u]);
#else
  return pair_of(w[e >> 3][e >> 1 & 3u])[e & 1u];
#endif
}

// A unit of a row, without its scale, which is returned. Columns from k on are 0.
float load_unit(uint row, uint unit, out vec4 fours[kUnitFours]) {
  uint e = row + unit * kUnit;
  if (WIDE) {
#if defined(VARIANT_F32)
    fours[0] = uintBitsToFloat(w[e >> 2]);
#else
    uvec4 halves = w[e >> 3];
    fours[0] = vec4(pair_of(halves.x), pair_of(halves.y));
    fours[1] = vec4(pair_of(halves.z), pair_of(halves.w));
#endif
  } else {
    for (uint i = 0; i < kUnit; ++i) {
      fours[i / 4u][i % 4u] = unit * kUnit + i < k ? weight_element(e + i) : 0.0;
    }
  }
  return 1.0;
}
#else
#define BLOCK_WORD(i) w[i]
#include "blocks.glsl"

// `unit_row` is the place of the row's first block.
uint unit_row(uint offset, uint element) { return block_of(offset, element); }

#ifndef STREAMED_BLOCKS
uint unit_column(uint unit, uint i) { return unit * kUnit + 4u * i; }

float load_unit(uint row, uint unit, out vec4 fours[kUnitFours]) {
  const uint kParts = kBlockElements / kUnit;
  load_part(row + unit / kParts * kBlockHalves, unit % kParts, fours);
  return 1.0;
}
#else
#if defined(VARIANT_Q8_0)
const uint kUnitWords = 4u;
uint unit_column(uint unit, uint i) { return unit * kUnit + 4u * i; }
#else
// A byte has the columns c and c + 16 of its block.
const uint kUnitWords = 2u;
uint unit_column(uint unit, uint i) {
  return unit / 2u * 32u + unit % 2u * 8u + i % 2u * 4u + i / 2u * 16u;
}
#endif

float load_unit(uint row, uint unit, out vec4 fours[kUnitFours]) {
  uint block = row + unit / 2u * kBlockHalves;
  uint from = block + 1u + unit % 2u * (2u * kUnitWords);
  uint at = from >> 1;
  bool odd = (from & 1u) != 0u;
  uint words[kUnitWords];
  for (uint i = 0; i < kUnitWords; ++i) {
    words[i] = w[at + i];
  }
  uint last = odd ? w[at + kUnitWords] : 0u;  // may be past the end of the buffer if not needed
  for (uint i = 0; i < kUnitWords; ++i) {
    uint next = i + 1u < kUnitWords ? words[i + 1u] : last;
    uint word = odd ? words[i] >> 16 | next << 16 : words[i];
#if defined(VARIANT_Q8_0)
    fours[i] = signed_bytes(word);
#else
    fours[i] = nibbles(word);
    fours[i + 2u] = nibbles(word >> 4);
#endif
  }
  return block_scalar(block, 0u);
}
#endif
#endif
