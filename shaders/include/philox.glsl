// Philox4x32-10: random words as a function of a counter and a key. Mirrors
// framework/include/reprise/core/philox.h.
uvec4 philox4x32(uvec4 counter, uvec2 key) {
  for (uint i = 0u; i < 10u; ++i) {
    uint first_high, first_low, second_high, second_low;
    umulExtended(0xD2511F53u, counter.x, first_high, first_low);
    umulExtended(0xCD9E8D57u, counter.z, second_high, second_low);
    counter = uvec4(second_high ^ counter.y ^ key.x, second_low,
                    first_high ^ counter.w ^ key.y, first_low);
    key += uvec2(0x9E3779B9u, 0xBB67AE85u);
  }
  return counter;
}
