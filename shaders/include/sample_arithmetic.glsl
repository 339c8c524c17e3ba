// The arithmetic of sample(), the same bits as in framework/core/sample_arithmetic.cpp: every sum and
// product is rounded by itself. Include wide.glsl first.
const uint kCertain = 1u << 30;
const float kSmallestDivisor = 7.888609052210118e-31;  // 2^-100
const float kLargestDivisor = 1.2676506002282294e30;   // 2^100

float reciprocal(float v) {
  precise float y = uintBitsToFloat(0x7EF311C7u - floatBitsToUint(v));
  for (uint i = 0u; i < 4u; ++i) {
    precise float product = v * y;
    precise float left = 1.0 - product;
    precise float correction = y * left;
    y = y + correction;
  }
  return y;
}

// x is a number: drivers may ignore NaN in comparisons.
uint weight_of(float x) {
  if (!(x > -21.0)) {
    return 0u;
  }
  precise float t = x * 1.44269504;
  precise float n = roundEven(t);
  precise float rest = t - n;
  precise float p = 1.32647273e-3;
  p = p * rest + 9.67151299e-3;
  p = p * rest + 5.55073358e-2;
  p = p * rest + 2.40222424e-1;
  p = p * rest + 6.93147004e-1;
  p = p * rest + 1.0;
  precise float scaled = p * uintBitsToFloat(uint(int(n) + 127 + 30) << 23);
  return uint(scaled);
}

// total * fraction / 2^24 of a total below 2^52 and a fraction of at most 2^24.
uvec2 share_of(uvec2 total, uint fraction) {
  uvec2 whole = wide_product((total.y << 8) | (total.x >> 24), fraction);
  uvec2 rest = wide_product(total.x & 0xFFFFFFu, fraction);
  return wide_add(whole, uvec2((rest.y << 8) | (rest.x >> 24), 0u));
}

// total * word / 2^32 of a total below 2^52.
uvec2 drawn(uvec2 total, uint word) {
  return wide_add(wide_product(total.y, word), uvec2(wide_product(total.x, word).y, 0u));
}
