// Half precision with integer arithmetic only, on bit patterns: drivers may flush subnormals or
// round differently. Mirrors framework/include/reprise/core/float16.h bit by bit.

uint f16_to_f32_bits(uint h) {
  uint sign = (h & 0x8000u) << 16;
  uint exponent = (h >> 10) & 0x1Fu;
  uint mantissa = h & 0x3FFu;
  if (exponent == 0u) {
    if (mantissa == 0u) {
      return sign;
    }
    uint top = uint(findMSB(mantissa));
    return sign | ((top + 103u) << 23) | ((mantissa << (23u - top)) & 0x7FFFFFu);
  }
  uint wide = exponent == 0x1Fu ? 0xFFu : exponent + 112u;
  return sign | (wide << 23) | (mantissa << 13);
}

// The upper half of f32, to nearest even, NaN kept quiet.
uint f32_bits_to_bf16(uint bits) {
  bool nan = (bits & 0x7FFFFFFFu) > 0x7F800000u;
  return nan ? bits >> 16 | 0x40u : (bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16;
}

// Round to nearest even, overflow to infinity, NaN kept quiet.
uint f32_bits_to_f16(uint bits) {
  uint sign = (bits >> 16) & 0x8000u;
  uint magnitude = bits & 0x7FFFFFFFu;
  if (magnitude >= 0x47800000u) {
    uint nan = magnitude > 0x7F800000u ? 0x200u | ((magnitude >> 13) & 0x3FFu) : 0u;
    return sign | 0x7C00u | nan;
  }
  if (magnitude >= 0x38800000u) {
    uint odd = (magnitude >> 13) & 1u;
    return sign | ((magnitude - 0x38000000u + 0xFFFu + odd) >> 13);
  }
  uint exponent = magnitude >> 23;
  if (exponent < 102u) {
    return sign;
  }
  uint shift = 126u - exponent;  // 14 to 24: the unit of a subnormal is 2^-24
  uint mantissa = (magnitude & 0x7FFFFFu) | 0x800000u;
  uint odd = (mantissa >> shift) & 1u;
  return sign | ((mantissa + (1u << (shift - 1u)) - 1u + odd) >> shift);
}
