// Mixtures of scaled and unscaled frequencies (Peng et al. 2023, "YaRN"), as 64-bit fractions:
// angles are as good as without. Include fraction.glsl, rope_angles.glsl and state.glsl first, and
// define the push constants extrapolation, ramp_first and ramp_last.
const int kMaxRamp = 32767;

// A number of at most 1, at least 2^-64; 0 for what is no positive normal number.
uvec2 fraction_of_float(uint bits) {
  if ((bits >> 31) != 0u || (bits >> 23) == 0u || (bits & 0x7FFFFFFFu) > 0x7F800000u) {
    return uvec2(0u, 0u);
  }
  if (bits >= 0x3F800000u) {
    return kOne;
  }
  return fraction_shift(uvec2(0u, ((bits & 0x7FFFFFu) | 0x800000u) << 8), int(bits >> 23) - 126);
}

uvec2 fraction_add(uvec2 a, uvec2 b) {
  uint carry;
  uint low = uaddCarry(a.x, b.x, carry);
  return uvec2(low, a.y + b.y + carry);
}

// Turns per position of pair `i` before base and factors, as a fraction times 2^shift: between
// `scaled` and 1 / (2 pi).
uvec2 mixed_turns(uvec2 scaled, inout int shift, uint i) {
  uvec2 kept = fraction_of_float(param_bits(extrapolation));
  int first = clamp(param_int(ramp_first), 0, kMaxRamp);
  uint wide = uint(max(clamp(param_int(ramp_last), 0, kMaxRamp) - first, 1));
  uint along = i > uint(first) ? i - uint(first) : 0u;
  if (kept == uvec2(0u, 0u) || along >= wide) {
    return scaled;
  }
  if (along > 0u) {
    kept = fraction_multiply(kept, ~fraction_of(along, wide));
  }
  int own_shift;
  uvec2 own = rope_turns(floatBitsToUint(1.0), own_shift);
  int to = max(shift, own_shift);
  own = fraction_multiply(fraction_shift(own, own_shift - to), kept);
  scaled = fraction_multiply(fraction_shift(scaled, shift - to), ~kept);
  shift = to;
  return fraction_add(own, scaled);
}
