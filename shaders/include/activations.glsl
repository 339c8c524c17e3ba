// Activations, good to a few ulp. Include exp.glsl first.
float sigmoid(float x) {
  // exp of a negative number only: nothing overflows.
  float e = exp_f32(-abs(x));
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}
float silu(float x) { return x * sigmoid(x); }
// (1 + tanh(u)) / 2 is sigmoid(2u), which loses nothing where tanh is nearly -1.
float gelu(float x) { return x * sigmoid(x * (1.59576912 + 0.0713548163 * x * x)); }
