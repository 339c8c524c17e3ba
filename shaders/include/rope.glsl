// Angles and rotation of rope. Include fraction.glsl, rope_angles.glsl, state.glsl and trig.glsl
// first, and define the buffers `positions` and `factors` and the push constants position, given,
// positions_offset, factors_offset, base, scale, inverse_pairs, ratio, turns and exponent. With
// ROPE_SECTIONS and ROPE_YARN, include rope_sections.glsl and rope_yarn.glsl first.

// Turns per position of pair i, whole ones dropped.
uvec2 frequency(uint i) {
  uvec2 r = uvec2(ratio[0], ratio[1]);
  if (param_dynamic(base)) {
    r = rope_ratio(param_bits(base), uvec2(inverse_pairs[0], inverse_pairs[1]));
  }
  uvec2 t = uvec2(turns[0], turns[1]);
  int shift = exponent;
  if (param_dynamic(scale)) {
    t = rope_turns(param_bits(scale), shift);
  }
#ifdef ROPE_YARN
  t = mixed_turns(t, shift, i);
#endif
  uvec2 f = fraction_multiply(fraction_power(r, i), t);
  if ((given & 2u) != 0u) {
    uint bits = floatBitsToUint(factors[factors_offset + i]);
    uint biased = bits >> 23;
    if (biased == 0u || biased >= 255u) {
      return uvec2(0u, 0u);
    }
    f = fraction_divide(f, (bits & 0x7FFFFFu) | 0x800000u);
    shift -= int(biased) - 127;
  }
  return fraction_shift(f, shift);
}

// Sine and cosine of pair `i` in a row.
vec2 rotation_of(uint row, uint i) {
#ifdef ROPE_SECTIONS
  bool many = (given & 8u) != 0u;
  uint at = positions_offset + (many ? 4u * row + section_of(i) : row);
#else
  uint at = positions_offset + row;
#endif
  int p = (given & 1u) != 0u ? positions[at] : param_int(position) + int(row);
  uvec2 f = frequency(i);
  uint magnitude = p < 0 ? 0u - uint(p) : uint(p);
  uint high, low;
  umulExtended(magnitude, f.x, high, low);
  vec2 sc = sine_cosine(magnitude * f.y + high);
  return p < 0 ? vec2(-sc.x, sc.y) : sc;
}

// A pair turned: products are rounded before they are added, in every shader.
vec2 turned(float a, float b, vec2 sc) {
  precise float to_a = a * sc.y - b * sc.x;
  precise float to_b = a * sc.x + b * sc.y;
  return vec2(to_a, to_b);
}
