// The arithmetic of sample(), the same bits as in framework/core/sample_arithmetic.cpp: every sum and
// product is rounded by itself. Include wide.glsl first.
const uint kCertain = 1u << 30;
const float kSmallestDivisor = 7.888609052210118e-31;  // 2^-100
const float kLargestDivisor = 1.2676506002282294e30;   // 2^100

float reciprocal(float v) {
  precise float y = uintBitsToFloat(0x7EF311C7u - floatBitsToUint(v));
  for (uint i = 0u; i < 4u; ++i) {
    precise float product = v * y;
    precise float correction = 2.0 - product;
    y = y * correction;
  }
  return y;
}

// x is a number: drivers may ignore NaN in comparisons.
uint weight_of(float x) {
  if (!(x > -21.0)) {
    return 0u;
  }
  precise float n = floor(x * 1.44269504 + 0.5);
  precise float high = x - n * 0.693359375;
  precise float r = high + n * 2.12194440e-4;
  precise float p = 1.9875691500e-4;
  p = p * r + 1.3981999507e-3;
  p = p * r + 8.3334519073e-3;
  p = p * r + 4.1665795894e-2;
  p = p * r + 1.6666665459e-1;
  p = p * r + 5.0000001201e-1;
  precise float square = r * r;
  precise float y = p * square + r + 1.0;
  precise float scaled = y * uintBitsToFloat(uint(int(n) + 127 + 30) << 23);
  return min(uint(scaled), kCertain);
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
