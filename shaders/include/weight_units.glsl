// Weights as one invocation reads them: units of 16 bytes of plain weights, or half a block of
// quantised ones, decoded to f32 in fours of neighbouring columns. Define WEIGHT_F32, WEIGHT_F16,
// VARIANT_Q8_0 or VARIANT_Q4_0, WIDE (rows of plain weights begin at multiples of 16 bytes and have
// whole units), `uint k` and the buffer `w` first: of uvec4 if plain, else of words.
#if defined(WEIGHT_F32)
const uint kUnitFours = 1u;
#elif defined(WEIGHT_F16)
const uint kUnitFours = 2u;
#else
const uint kUnitFours = 4u;
#endif
const uint kUnit = 4u * kUnitFours;

#if defined(WEIGHT_F32) || defined(WEIGHT_F16)
// The first column of four `i` of a unit.
uint unit_column(uint unit, uint i) { return unit * kUnit + 4u * i; }

uint unit_row(uint offset, uint element) { return offset + element; }

float weight_element(uint e) {
#if defined(WEIGHT_F32)
  return uintBitsToFloat(w[e >> 2][e & 3u]);
#else
  return unpackHalf2x16(w[e >> 3][e >> 1 & 3u] >> ((e & 1u) * 16u)).x;
#endif
}

// A unit of a row, without its scale, which is returned. Columns from k on are 0.
float load_unit(uint row, uint unit, out vec4 fours[kUnitFours]) {
  uint e = row + unit * kUnit;
  if (WIDE) {
#if defined(WEIGHT_F32)
    fours[0] = uintBitsToFloat(w[e >> 2]);
#else
    uvec4 halves = w[e >> 3];
    fours[0] = vec4(unpackHalf2x16(halves.x), unpackHalf2x16(halves.y));
    fours[1] = vec4(unpackHalf2x16(halves.z), unpackHalf2x16(halves.w));
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
  return unpackHalf2x16(block_scale(block)).x;
}
#endif
