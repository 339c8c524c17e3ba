// tanh() to about 2 ulp. Polynomial of Cephes tanhf (S. Moshier). Include exp.glsl first.
float tanh_f32(float x) {
  float size = abs(x);
  if (size < 0.625) {
    float z = x * x;
    float p = -5.70498872745e-3;
    p = p * z + 2.06390887954e-2;
    p = p * z - 5.37397155531e-2;
    p = p * z + 1.33314422036e-1;
    p = p * z - 3.33332819422e-1;
    return p * (z * x) + x;
  }
  float y = 1.0 - 2.0 / (exp_f32(2.0 * size) + 1.0);
  return x < 0.0 ? -y : y;
}
