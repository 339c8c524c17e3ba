// exp() to about 2 ulp: Vulkan allows drivers 3 + 2|x| ulp, some use more. Cephes expf (S. Moshier).
// Results below the smallest normal number are 0; NaN stays NaN.
float exp_f32(float x) {
  if (x < -87.3) {
    return 0.0;
  }
  if (x > 88.0) {
    return uintBitsToFloat(0x7F800000u);
  }
  float n = floor(x * 1.44269504 + 0.5);
  // ln 2 in two parts: n times the first one is exact.
  float r = x - n * 0.693359375;
  r = r + n * 2.12194440e-4;
  float p = 1.9875691500e-4;
  p = p * r + 1.3981999507e-3;
  p = p * r + 8.3334519073e-3;
  p = p * r + 4.1665795894e-2;
  p = p * r + 1.6666665459e-1;
  p = p * r + 5.0000001201e-1;
  float y = p * (r * r) + r + 1.0;
  return y * uintBitsToFloat(uint(int(n) + 127) << 23);
}
