// Random numbers against published vectors, and the quantile against the C library's distribution.
#include "framework/core/philox.h"

#include <bit>
#include <cmath>

#include "framework/session/device/normal_quantile.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

// Random123 (https://github.com/DEShawResearch/random123), tests/kat_vectors: philox4x32 10.
TEST(Philox, GivesThePublishedVectors) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

/// How far x is from the quantile of p, by the slope of the distribution, over x.
double relative_error(double p, double x) {
  const double root = std::sqrt(0.5);
  // Around the median the difference from it is exact, far from it the tail is.
  const double excess = std::abs(p - 0.5) < 0.25 ? std::erf(x * root) / 2 - (p - 0.5)
                        : p < 0.5                ? std::erfc(-x * root) / 2 - p
                                                 : 1 - p - std::erfc(x * root) / 2;
  const double slope = std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0));
  return std::abs(excess / slope / x);
}

TEST(NormalQuantile, IsTheInverseOfTheDistribution) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  std::vector<double> words{0, 1, 2, 0x1p31 - 1, 0x1p31, 0x1p32 - 2, 0x1p32 - 1};
  for (const double branch : {0.075, 0.925}) {
    words.insert(words.end(), {std::floor(branch * 0x1p32), std::ceil(branch * 0x1p32)});
  }
  for (double tail = 1; tail < 0x1p32; tail *= 1.001) {
    words.insert(words.end(), {std::floor(tail), 0x1p32 - 1 - std::floor(tail)});
  }
  for (int i = 0; i < 100'000; ++i) {
    words.push_back(static_cast<double>(rng() >> 32U));
  }
  for (const double word : words) {
    const double p = (word + 0.5) / 0x1p32;
    const double x = normal_quantile(p);
    EXPECT_LT(relative_error(p, x), 1e-14) << "p " << p << " x " << x;
    EXPECT_EQ(normal_quantile(1 - p), -x) << "p " << p;
    EXPECT_LT(std::abs(x), 6.34);
  }
}

// Computed once on x86-64 without fused multiply-adds: other machines and compilers have to agree.
TEST(NormalQuantile, IsTheSameBitsOnEveryMachine) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, by words
  for (std::uint64_t word = 0x2011; word < std::uint64_t{1} << 32U; word += 0xfffff) {
    const double x = normal_quantile((static_cast<double>(word) + 0.5) / 0x1p32);
    hash = (hash ^ std::bit_cast<std::uint64_t>(x)) * 0x100000001b3;
  }
  EXPECT_EQ(hash, 14770144951363807518U);
}

}  // namespace
}  // namespace reprise::testing
