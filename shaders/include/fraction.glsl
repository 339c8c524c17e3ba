// Numbers in [0, 1) as 64-bit fractions, uvec2(low, high): value = (high * 2^32 + low) / 2^64.
// Integer arithmetic is exact on every driver, and dropping whole turns of an angle is free.

uvec2 fraction_multiply(uvec2 a, uvec2 b) {
  uint h0, l0, h1, l1, h2, l2, h3, l3;
  umulExtended(a.x, b.x, h0, l0);
  umulExtended(a.x, b.y, h1, l1);
  umulExtended(a.y, b.x, h2, l2);
  umulExtended(a.y, b.y, h3, l3);
  uint c0, c1, c2, c3, c4;
  uint middle = uaddCarry(h0, l1, c0);
  middle = uaddCarry(middle, l2, c1);
  uint low = uaddCarry(l3, h1, c2);
  low = uaddCarry(low, h2, c3);
  low = uaddCarry(low, c0 + c1, c4);
  return uvec2(low, h3 + c2 + c3 + c4);
}

uvec2 fraction_power(uvec2 a, uint exponent) {
  uvec2 result = uvec2(0xFFFFFFFFu, 0xFFFFFFFFu);
  while (exponent != 0u) {
    if ((exponent & 1u) != 0u) {
      result = fraction_multiply(result, a);
    }
    a = fraction_multiply(a, a);
    exponent >>= 1;
  }
  return result;
}

// a * 2^23 / m for m in [2^23, 2^24): long division in digits of 8 bits.
uvec2 fraction_divide(uvec2 a, uint m) {
  a = uvec2((a.x >> 1) | (a.y << 31), a.y >> 1);
  uvec2 quotient = uvec2(0u, 0u);
  uint rest = 0u;
  for (int digit = 0; digit < 11; ++digit) {
    rest = (rest << 8) | (a.y >> 24);
    a = uvec2(a.x << 8, (a.y << 8) | (a.x >> 24));
    uint d = rest / m;
    rest -= d * m;
    quotient = uvec2((quotient.x << 8) | d, (quotient.y << 8) | (quotient.x >> 24));
  }
  return quotient;
}

// a * 2^by modulo 1.
uvec2 fraction_shift(uvec2 a, int by) {
  uint n = uint(abs(by));
  if (n >= 64u) {
    return uvec2(0u, 0u);
  }
  if (n >= 32u) {
    a = by > 0 ? uvec2(0u, a.x) : uvec2(a.y, 0u);
    n -= 32u;
  }
  if (n == 0u) {
    return a;
  }
  return by > 0 ? uvec2(a.x << n, (a.y << n) | (a.x >> (32u - n)))
                : uvec2((a.x >> n) | (a.y << (32u - n)), a.y >> n);
}
