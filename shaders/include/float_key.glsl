// Floats as integers that order like them, because drivers may flush subnormals and ignore NaN:
// both zeros are equal, NaN is 0 and below everything.
uint key_of(uint bits) {
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) {
    return 0u;
  }
  bits = bits == 0x80000000u ? 0u : bits;
  return bits ^ ((bits >> 31) != 0u ? 0xFFFFFFFFu : 0x80000000u);
}
