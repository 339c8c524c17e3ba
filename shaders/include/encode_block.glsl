// 32 values as a block of q8_0 or q4_0, bit for bit as core/encode.h says. The variant is the format.
// Define ENCODED_BITS(i), the bits of value i, and ENCODED_HALF(i, half), which stores unit i of 16
// bits, first; include f16.glsl.
#if defined(VARIANT_Q8_0)
const uint kEncodedHalves = 17u;
#else
const uint kEncodedHalves = 9u;
#endif

// Vulkan allows quotients an error of 2.5 ulp: what is left corrects them.
float quotient(float a, float b) {
  precise float q = a / b;
  precise float rest = fma(-q, b, a);
  precise float better = fma(rest, 1.0 / b, q);
  return better;
}

// Halves away from zero.
int rounded(float value) {
  precise float whole = trunc(value);
  precise float rest = value - whole;
  return int(whole) + (abs(rest) >= 0.5 ? int(sign(value)) : 0);
}

// Values from `first` on become the units from `to` on.
void encode_block(uint first, uint to) {
  // The first one of the largest magnitude. By bits: a NaN is larger than any number.
  uint largest = 0u;
  for (uint i = 0; i < 32u; ++i) {
    uint bits = ENCODED_BITS(first + i);
    largest = (bits & 0x7FFFFFFFu) > (largest & 0x7FFFFFFFu) ? bits : largest;
  }
#if defined(VARIANT_Q8_0)
  float unit = quotient(uintBitsToFloat(largest & 0x7FFFFFFFu), 127.0);
#else
  float unit = uintBitsToFloat(largest) * -0.125;
#endif
  bool finite = (largest & 0x7F800000u) != 0x7F800000u;
  uint scale = finite ? f32_bits_to_f16(floatBitsToUint(unit)) : 0x7E00u;
  bool zeros = !finite || (scale & 0x7FFFu) == 0u;
  float factor = zeros ? 0.0 : quotient(1.0, unit);
  ENCODED_HALF(to, scale);
#if defined(VARIANT_Q8_0)
  for (uint i = 0; i < 16u; ++i) {
    uint pair = 0u;
    for (uint j = 0; j < 2u; ++j) {
      precise float value = uintBitsToFloat(ENCODED_BITS(first + 2u * i + j)) * factor;
      pair |= uint((zeros ? 0 : rounded(value)) & 0xFF) << 8u * j;
    }
    ENCODED_HALF(to + 1u + i, pair);
  }
#else
  for (uint i = 0; i < 8u; ++i) {
    uint four = 0u;
    for (uint j = 0; j < 4u; ++j) {
      // Bytes 2i and 2i + 1: values of the first half in low nibbles, of the second in high ones.
      uint value_at = 2u * i + j / 2u + j % 2u * 16u;
      precise float product = uintBitsToFloat(ENCODED_BITS(first + value_at)) * factor;
      precise float above = product + 8.5;
      four |= (zeros ? 8u : min(15u, uint(above))) << 4u * j;
    }
    ENCODED_HALF(to + 1u + i, four);
  }
#endif
}
