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
    const float correction = 2.0F - product;
    y = y * correction;
  }
  return y;
}

// Cephes expf (S. Moshier), as shaders/include/exp.glsl.
std::uint32_t weight_of(float x) {
  if (!(x > -21.0F)) {
    return 0;  // exp(-21) is below 2^-30
  }
  const float n = std::floor(x * 1.44269504F + 0.5F);
  const float high = x - n * 0.693359375F;
  const float r = high + n * 2.12194440e-4F;
  float p = 1.9875691500e-4F;
  for (const float coefficient :
       {1.3981999507e-3F, 8.3334519073e-3F, 4.1665795894e-2F, 1.6666665459e-1F, 5.0000001201e-1F}) {
    p = p * r + coefficient;
  }
  const float square = r * r;
  const float y = p * square + r + 1.0F;
  const auto exponent = static_cast<std::uint32_t>(static_cast<std::int32_t>(n) + 127 + 30);
  const auto weight = static_cast<std::uint32_t>(y * std::bit_cast<float>(exponent << 23U));
  return weight < kCertain ? weight : kCertain;
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
