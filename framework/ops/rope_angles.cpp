#include "framework/ops/rope_angles.h"

#include <bit>
#include <cmath>

namespace reprise::ops {
namespace {

constexpr std::uint64_t kOne = ~std::uint64_t{0};                  // as near as a fraction gets
constexpr std::uint64_t kLn2 = 0xB17217F7D1CF79AB;                 // ln(2)
constexpr std::uint64_t kTwoOverPi = 0xA2F9836E4E441529;           // 2 / pi
constexpr std::uint32_t kLogBits = 57;                             // of a logarithm below the point
constexpr std::uint32_t kTerms = 20;                               // 0.7^20 / 20! < 2^-64
constexpr std::uint32_t kMantissa = 0x7FFFFF, kHidden = 0x800000;  // of an f32

std::uint64_t whole(Fraction f) { return std::uint64_t{f[1]} << 32U | f[0]; }
Fraction halves(std::uint64_t f) {
  return {static_cast<std::uint32_t>(f), static_cast<std::uint32_t>(f >> 32U)};
}

std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(Wide{a} * b >> 64U);
}

/// log2 of a number of at least 1: 7 bits, then kLogBits. Its square has twice the logarithm.
std::uint64_t log2_of(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  std::uint64_t log = (bits >> 23U) - 127;
  std::uint64_t x = std::uint64_t{(bits & kMantissa) | kHidden} << 40U;  // 1 is 2^63
  for (std::uint32_t i = 0; i < kLogBits; ++i) {
    x = multiply(x, x);
    const std::uint64_t bit = x >> 63U;
    log = log << 1U | bit;
    x <<= 1 - bit;
  }
  return log;
}

/// 2^-x of such a logarithm: e^-y = 1 - y (1 - y / 2 (1 - y / 3 ...)) for what is below the point.
std::uint64_t exp2_of_minus(std::uint64_t log) {
  const std::uint64_t y = multiply(log << (64 - kLogBits), kLn2);
  std::uint64_t sum = kOne;
  for (std::uint32_t n = kTerms; n > 0; --n) {
    sum = ~(multiply(y, sum) / n);
  }
  const std::uint64_t shift = log >> kLogBits;
  return shift < 64 ? sum >> shift : 0;
}

}  // namespace

float usable_base(float base) { return base >= 1 && std::isfinite(base) ? base : 1; }

float usable_scale(float scale) { return scale > 0 && std::isnormal(scale) ? scale : 0; }

Fraction inverse(std::uint32_t pairs) {
  const std::uint64_t quotient = kOne / pairs;
  return halves(quotient);
}

Fraction rope_ratio(float base, Fraction inverse_pairs) {
  return halves(exp2_of_minus(multiply(log2_of(base), whole(inverse_pairs))));
}

RopeTurns rope_turns(float scale) {
  if (scale == 0) {
    return {};
  }
  const auto bits = std::bit_cast<std::uint32_t>(scale);
  const std::uint64_t mantissa = std::uint64_t{(bits & kMantissa) | kHidden} << 40U;
  // scale = mantissa * 2^(e - 126), and 1 / (2 pi) = (2 / pi) / 4.
  return {halves(multiply(mantissa, kTwoOverPi)), static_cast<std::int32_t>(bits >> 23U) - 128};
}

}  // namespace reprise::ops
