#include "framework/core/sample_arithmetic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>

namespace reprise {

// Newton's iteration from a guess by the bits, which is 12% off at most.
float reciprocal(float v) {
  auto y = std::bit_cast<float>(0x7EF311C7U - std::bit_cast<std::uint32_t>(v));
  for (int i = 0; i < 4; ++i) {
    const float product = v * y;
    const float left = 1.0F - product;
    const float correction = y * left;
    y = y + correction;
  }
  return y;
}

// 2^t: a polynomial of what is beside the nearest integer, whose largest error is the least of its
// degree (Remez) among those that are 1 at 0, 1.1e-7 relative to it.
std::uint32_t weight_of(float x) {
  if (!(x > -21.0F)) {
    return 0;  // exp(-21) is below 2^-30
  }
  const float t = x * 1.44269504F;
  const float n = std::nearbyint(t);
  const float rest = t - n;
  float p = 1.32647273e-3F;
  for (const float coefficient :
       {9.67151299e-3F, 5.55073358e-2F, 2.40222424e-1F, 6.93147004e-1F, 1.0F}) {
    p = p * rest + coefficient;
  }
  const auto exponent = static_cast<std::uint32_t>(static_cast<std::int32_t>(n) + 127 + 30);
  return static_cast<std::uint32_t>(p * std::bit_cast<float>(exponent << 23U));
}

SampleFilters::SampleFilters(float temperature, std::int32_t k, float p, float min_p,
                             float repetition_penalty)
    : greedy(!(temperature > kSmallestDivisor)),
      coldness(greedy ? 1 : reciprocal(std::min(temperature, kLargestDivisor))),
      top_k(static_cast<std::size_t>(std::max(k, 0))),
      top_p(std::isnan(p) ? kWhole
                          : static_cast<std::uint32_t>(std::clamp(p, 0.0F, 1.0F) * 0x1p24F)),
      min_weight(std::isnan(min_p)
                     ? 0
                     : static_cast<std::uint32_t>(std::clamp(min_p, 0.0F, 1.0F) * 0x1p30F)),
      penalty(repetition_penalty >= kSmallestDivisor && repetition_penalty <= kLargestDivisor
                  ? repetition_penalty
                  : 1),
      share(reciprocal(penalty)) {}

}  // namespace reprise
