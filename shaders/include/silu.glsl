// gate / (1 + exp(-gate)) * up. Include exp.glsl first.
float silu_mul(float gate, float up) {
  // exp of a negative number only: nothing overflows.
  float e = exp_f32(-abs(gate));
  return gate * ((gate < 0.0 ? e : 1.0) / (1.0 + e)) * up;
}
