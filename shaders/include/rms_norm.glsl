// Root-mean-square normalisation by one invocation per row. Define `float value(uint c)`, the
// elements of the row, and the push constants eps, weighted and weight_offset with their buffer
// `weight` first; include state.glsl before.
// What a result is rounded from is written out, so that the bits are the same in every shader.

// 1 / sqrt(mean of squares + eps).
float scale_of_row(uint cols) {
  float sum = 0.0;
  // By eights, which the compiler unrolls: llvmpipe ends loops after 65,535 turns. Eight sums, so
  // that long rows lose less.
  float sums[8] = float[8](0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
  for (uint c = 0; c < cols; c += 8u) {
    [[unroll]] for (uint i = 0; i < 8u; ++i) {
      float v = c + i < cols ? value(c + i) : 0.0;
      sums[i] = fma(v, v, sums[i]);
    }
  }
  [[unroll]] for (uint i = 0; i < 8u; ++i) {
    sum += sums[i];
  }
  precise float mean = sum / float(cols) + param_float(eps);
  return 1.0 / sqrt(mean);
}

float normalised(float v, float scale, uint c) {
  return v * scale * (weighted != 0 ? weight[weight_offset + c] : 1.0);
}
