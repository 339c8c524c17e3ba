// Sine and cosine of any angle in radians, to about 1 ulp of 1. Include nan.glsl first.
#include "trig.glsl"

// 1 / (2 pi) in binary, from 32 places before the point on.
const uint kTurnsPerRadian[7] = uint[7](0u, 0x28BE60DBu, 0x9391054Au, 0x7F09D5F4u, 0x7D4D3770u,
                                        0x36D8A566u, 0x4F10E410u);

// The fraction of a turn that |x| is, for x of at least 1/2. x is m * 2^(exponent - 150), m an
// integer of 24 bits: of the places of 1 / (2 pi), those that make whole turns are left out, and the
// 64 after them give all of the result (Payne & Hanek 1983).
uint turn_of(uint bits) {
  uint m = bits & 0x7FFFFFu | 0x800000u;
  uint place = (bits >> 23 & 0xFFu) - 118u;
  uint word = place >> 5;
  uint by = place & 31u;
  uint high = kTurnsPerRadian[word] << by | kTurnsPerRadian[word + 1u] >> 1 >> (31u - by);
  uint low = kTurnsPerRadian[word + 1u] << by | kTurnsPerRadian[word + 2u] >> 1 >> (31u - by);
  uint carry, rest;
  umulExtended(m, low, carry, rest);
  return m * high + carry;
}

vec2 sine_cosine_of(float x) {
  uint bits = floatBitsToUint(x) & 0x7FFFFFFFu;
  if (bits >= 0x7F800000u) {
    return vec2(make_nan());
  }
  if (bits <= 0x3F490FDAu) {  // pi / 4
    return sine_cosine_of_small(x);
  }
  vec2 sc = sine_cosine(turn_of(bits));
  return vec2(x < 0.0 ? -sc.x : sc.x, sc.y);
}
