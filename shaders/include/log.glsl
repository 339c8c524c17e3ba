// Natural logarithm to about 1 ulp, of subnormals too: Vulkan allows drivers 2^-21 near 1.
// Polynomial of Cephes logf (S. Moshier). Include nan.glsl first.
float log_f32(float x) {
  uint bits = floatBitsToUint(x);
  if ((bits & 0x7FFFFFFFu) == 0u) {
    return uintBitsToFloat(0xFF800000u);
  }
  if (bits > 0x80000000u) {
    return make_nan();
  }
  if (bits == 0x7F800000u) {
    return x;
  }
  int exponent = -127;
  if (bits < 0x00800000u) {
    // Its value is that of the bits, an integer, times 2^-149.
    bits = floatBitsToUint(float(bits));
    exponent = -127 - 149;
  }
  // x = (1 + r) * 2^exponent, 1 + r from 1 / sqrt(2) to sqrt(2).
  exponent += int(bits >> 23);
  bits = bits & 0x7FFFFFu | 0x3F800000u;
  if (bits > 0x3FB504F3u) {
    bits -= 0x00800000u;
    ++exponent;
  }
  float r = uintBitsToFloat(bits) - 1.0;
  float e = float(exponent);
  float p = 7.0376836292e-2;
  p = p * r - 1.1514610310e-1;
  p = p * r + 1.1676998740e-1;
  p = p * r - 1.2420140846e-1;
  p = p * r + 1.4249322787e-1;
  p = p * r - 1.6668057665e-1;
  p = p * r + 2.0000714765e-1;
  p = p * r - 2.4999993993e-1;
  p = p * r + 3.3333331174e-1;
  // ln 2 in two parts: e times the first one is exact.
  float y = p * r * (r * r) - 2.12194440e-4 * e - 0.5 * (r * r);
  return r + y + 0.693359375 * e;
}
