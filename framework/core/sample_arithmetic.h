// The arithmetic of sample(), the same bits as in shaders/include/sample_arithmetic.glsl: f32 sums
// and products only, none of them fused (CMakeLists.txt), nearest integers, and integers.
#pragma once
#include <cstddef>
#include <cstdint>

namespace reprise {

inline constexpr std::uint32_t kCertain = std::uint32_t{1}
                                          << 30U;  // the weight of the largest logit
inline constexpr float kSmallestDivisor = 0x1p-100F;
inline constexpr float kLargestDivisor = 0x1p100F;

/// 1 / v to about 1 ulp, exact for powers of 2. v: from kSmallestDivisor to kLargestDivisor.
float reciprocal(float v);

/// floor(kCertain * exp(x)), exp with a relative error up to 2e-7 (1 - x). x: any number up to 0.
std::uint32_t weight_of(float x);

/// What sample() filters by, as numbers of the ranges that its header promises.
struct SampleFilters {
  SampleFilters(float temperature, std::int32_t k, float p, float min_p, float repetition_penalty);
  static constexpr std::uint32_t kWhole = std::uint32_t{1} << 24U;  // of top_p

  bool greedy;
  float coldness;       // 1 / temperature
  std::size_t top_k;    // 0: all
  std::uint32_t top_p;  // of kWhole
  std::uint32_t min_weight;
  float penalty;
  float share;  // 1 / penalty

  /// A finite logit of a token that was there before.
  float penalised(float logit) const { return logit * (logit > 0 ? share : penalty); }
};

/// A fraction of a sum of weights below 2^52. fraction: of 2^24, at most 2^24.
constexpr std::uint64_t share_of(std::uint64_t total, std::uint32_t fraction) {
  const std::uint64_t low = total & 0xFFFFFFU;
  return (total >> 24U) * fraction + ((low * fraction) >> 24U);
}

/// The draw of a word among weights that sum up to `total`: floor(total * word / 2^32).
constexpr std::uint64_t drawn(std::uint64_t total, std::uint32_t word) {
  return (total >> 32U) * word + (((total & 0xFFFFFFFFU) * word) >> 32U);
}

}  // namespace reprise
