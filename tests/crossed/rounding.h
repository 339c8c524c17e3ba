// How numbers are kept on a device, from the definitions of the formats and not from the library.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace reprise::crossed {

/// The nearest number of IEEE 754 binary16, ties to even; infinity above its range.
inline double rounded_to_half(double value) {
  if (value == 0 || !std::isfinite(value)) {
    return value;
  }
  int exponent = 0;
  static_cast<void>(std::frexp(value, &exponent));
  const double unit = std::ldexp(1.0, std::max(exponent - 11, -24));
  const double rounded = std::nearbyint(value / unit) * unit;
  return std::fabs(rounded) > 65504 ? std::copysign(INFINITY, value) : rounded;
}

/// The bits of a number that binary16 has, and back.
inline std::uint16_t half_bits(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (magnitude < std::ldexp(1.0, -14)) {
    return static_cast<std::uint16_t>(sign | static_cast<unsigned>(std::ldexp(magnitude, 24)));
  }
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent);  // 0.5 to 1
  const auto bits = static_cast<unsigned>(std::ldexp(fraction, 11)) - 1024U;
  return static_cast<std::uint16_t>(sign | (static_cast<unsigned>(exponent + 14) << 10U) | bits);
}

inline double half_value(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  const double magnitude = exponent == 0    ? std::ldexp(fraction, -24)
                           : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                                            : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/// A block of q8_0: 32 integers and what each is multiplied with.
struct Block {
  double scale = 0;
  std::array<std::int8_t, 32> integers{};
};

inline Block block_of(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) {
    largest = std::max(largest, std::fabs(value));
  }
  const double exact = static_cast<double>(static_cast<float>(largest) / 127.0F);
  Block block;
  block.scale = rounded_to_half(exact);
  for (std::size_t i = 0; i < values.size(); ++i) {
    block.integers[i] = static_cast<std::int8_t>(exact == 0 ? 0.0 : std::round(values[i] / exact));
  }
  return block;
}

}  // namespace reprise::crossed
