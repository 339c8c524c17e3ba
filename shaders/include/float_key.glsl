// Floats as integers that order like them, because drivers may flush subnormals and ignore NaN:
// both zeros are equal, NaN is 0 and below everything.
uint key_of(uint bits) {
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) {
    return 0u;
  }
  bits = bits == 0x80000000u ? 0u : bits;
  return bits ^ ((bits >> 31) != 0u ? 0xFFFFFFFFu : 0x80000000u);
}

// The float of a key, 0 for NaN's: the bits that key_of() was given, but for -0.
uint bits_of_key(uint key) {
  return key == 0u ? 0u : key ^ ((key >> 31) != 0u ? 0x80000000u : 0xFFFFFFFFu);
}

// The same order, but NaN is above everything: what is searched for the largest finds it.
uint key_below_nan(uint bits) {
  uint key = key_of(bits);
  return key == 0u ? 0xFFFFFFFFu : key;
}
