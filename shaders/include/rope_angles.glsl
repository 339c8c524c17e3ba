// The constants behind the angles of rope where base or scale are in the state: the same integer
// arithmetic as framework/ops/rope_angles.cpp, bit by bit. Include fraction.glsl first.
const uvec2 kOne = uvec2(0xFFFFFFFFu, 0xFFFFFFFFu);
const uvec2 kLn2 = uvec2(0xD1CF79ABu, 0xB17217F7u);
const uvec2 kTwoOverPi = uvec2(0x4E441529u, 0xA2F9836Eu);
const uint kLogBits = 57u;
const uint kTerms = 20u;

// a / n, for n below 2^16.
uvec2 fraction_over(uvec2 a, uint n) {
  uvec2 quotient;
  uint rest = a.y % n;
  quotient.y = a.y / n;
  rest = rest << 16 | a.x >> 16;
  uint high = rest / n;
  rest = (rest % n) << 16 | (a.x & 0xFFFFu);
  quotient.x = high << 16 | rest / n;
  return quotient;
}

// a / n, for a below n below 2^16.
uvec2 fraction_of(uint a, uint n) {
  uint rest = a;
  uint digits[4];
  for (uint i = 0u; i < 4u; ++i) {
    rest <<= 16;
    digits[i] = rest / n;
    rest %= n;
  }
  return uvec2(digits[2] << 16 | digits[3], digits[0] << 16 | digits[1]);
}

// base^(-1 / pairs); 1 instead of a base that is no finite number of at least 1.
uvec2 rope_ratio(uint base_bits, uvec2 inverse_pairs) {
  bool usable = base_bits >= 0x3F800000u && base_bits < 0x7F800000u;
  uint bits = usable ? base_bits : 0x3F800000u;
  uvec2 log = uvec2((bits >> 23) - 127u, 0u);
  uvec2 x = uvec2(0u, ((bits & 0x7FFFFFu) | 0x800000u) << 8);
  for (uint i = 0u; i < kLogBits; ++i) {
    x = fraction_multiply(x, x);
    uint bit = x.y >> 31;
    log = uvec2(log.x << 1 | bit, log.y << 1 | log.x >> 31);
    x = bit != 0u ? x : uvec2(x.x << 1, x.y << 1 | x.x >> 31);
  }
  log = fraction_multiply(log, inverse_pairs);
  uvec2 y = fraction_multiply(uvec2(log.x << 7, log.y << 7 | log.x >> 25), kLn2);
  uvec2 sum = kOne;
  for (uint n = kTerms; n > 0u; --n) {
    sum = ~fraction_over(fraction_multiply(y, sum), n);
  }
  return fraction_shift(sum, -int(log.y >> 25));
}

// scale / (2 pi) as a fraction times 2^exponent; 0 instead of a scale that is no positive normal
// number.
uvec2 rope_turns(uint scale_bits, out int exponent) {
  uint biased = scale_bits >> 23;
  exponent = int(biased) - 128;
  if (biased == 0u || biased >= 255u) {
    exponent = 0;
    return uvec2(0u, 0u);
  }
  return fraction_multiply(uvec2(0u, ((scale_bits & 0x7FFFFFu) | 0x800000u) << 8), kTwoOverPi);
}
