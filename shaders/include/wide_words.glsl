// Weights in a buffer of 64-bit words, 8 neighbouring columns at a time: on drivers that read memory
// lane by lane, a load costs the same whatever its width. Define WIDE_WORD(i) as word i of the
// buffer first. Rows begin anywhere; nothing past the last word of a row is read.
#if defined(VARIANT_F32)
const uint kPerWord = 2u;
#else
const uint kPerWord = 4u;
#endif

// Bits of one element.
uint wide_element(uint element) {
  return uint(WIDE_WORD(element / kPerWord) >> (element % kPerWord * (64u / kPerWord)));
}

// Reads a row from front to back.
struct WideRow {
  uint at;          // the next word
  uint shift;       // of the first element in its word
  uint64_t before;  // the word before, if elements do not begin with words
};

WideRow open_row(uint element) {
  WideRow row;
  row.at = element / kPerWord;
  row.shift = element % kPerWord * (64u / kPerWord);
  row.before = WIDE_WORD(row.at);
  row.at += row.shift == 0u ? 0u : 1u;
  return row;
}

uint64_t next_word(inout WideRow row) {
  uint64_t word = WIDE_WORD(row.at++);
  uint64_t joined = row.before >> row.shift | word << (64u - row.shift);
  row.before = word;
  return row.shift == 0u ? word : joined;
}

void next_eight(inout WideRow row, out vec4 values[2]) {
#if defined(VARIANT_F32)
  for (uint i = 0; i < 2u; ++i) {
    values[i].xy = uintBitsToFloat(unpackUint2x32(next_word(row)));
    values[i].zw = uintBitsToFloat(unpackUint2x32(next_word(row)));
  }
#else
  for (uint i = 0; i < 2u; ++i) {
    uvec2 halves = unpackUint2x32(next_word(row));
    values[i] = vec4(unpackHalf2x16(halves.x), unpackHalf2x16(halves.y));
  }
#endif
}
