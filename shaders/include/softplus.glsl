// log(1 + exp(x)) good to some roundings, whatever the size of x: Vulkan allows log() an error of
// 2^-21 around 1. log(1 + u) is 2 * atanh(u / (2 + u)), by its series: at most 1 / 3 is raised to the
// 17th power. NaN stays NaN. Include exp.glsl first.
float softplus(float x) {
  float u = exp_f32(-abs(x));
  float z = u / (2.0 + u);
  float square = z * z;
  float p = 1.0 / 17.0;
  for (uint odd = 15u; odd > 1u; odd -= 2u) {
    p = fma(p, square, 1.0 / float(odd));
  }
  float small = 2.0 * fma(p * square, z, z);
  return x > 0.0 ? x + small : small;
}
