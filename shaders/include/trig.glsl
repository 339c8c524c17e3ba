// Sine and cosine to about 1 ulp of 1: Vulkan allows drivers 2^-11. Polynomials of Cephes sinf and
// cosf (S. Moshier) on an eighth of a turn.

// Of x in radians, up to pi / 4.
vec2 sine_cosine_of_small(float x) {
  float z = x * x;
  precise float s = ((-1.9515295891e-4 * z + 8.3321608736e-3) * z - 1.6666654611e-1) * (z * x) + x;
  precise float c =
      ((2.443315711809948e-5 * z - 1.388731625493765e-3) * z + 4.166664568298827e-2) * (z * z) -
      0.5 * z + 1.0;
  return vec2(s, c);
}

// Of an angle given as a fraction of a turn.
vec2 sine_cosine(uint turn) {
  uint quadrant = (turn + 0x20000000u) >> 30;
  vec2 sc = sine_cosine_of_small(float(int(turn - (quadrant << 30))) * 1.4629180792671596e-9);
  if (quadrant == 1u) {
    return vec2(sc.y, -sc.x);
  }
  if (quadrant == 2u) {
    return -sc;
  }
  if (quadrant == 3u) {
    return vec2(-sc.y, sc.x);
  }
  return sc;
}
