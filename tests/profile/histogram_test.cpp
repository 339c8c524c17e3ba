// Histograms and node statistics against the sorted values.
#include "framework/profile/histogram.h"

#include <cmath>
#include <map>
#include <numeric>

#include "framework/profile/node_stats.h"
#include "tests/testing.h"

namespace reprise {
namespace {

using profile::Histogram;
using profile::NodeStats;

std::vector<std::uint64_t> random_values(std::mt19937_64& random) {
  std::lognormal_distribution<double> distribution(static_cast<double>(random() % 20),
                                                   static_cast<double>(1 + random() % 30) / 10);
  std::vector<std::uint64_t> values(1 + random() % 5000);
  for (std::uint64_t& value : values) {
    value = static_cast<std::uint64_t>(std::min(distribution(random), 1e18));
  }
  return values;
}

TEST(Histogram, QuantilesLieWithinA32ndOfTheExactOnes) {
  const std::uint64_t seed = testing::test_seed();
  SCOPED_TRACE(testing::seed_note(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::uint64_t> values = random_values(random);
    Histogram histogram;
    for (const std::uint64_t value : values) {
      histogram.add(value);
    }
    std::ranges::sort(values);
    for (const double share : {0.0, 0.5, 0.9, 0.95, 0.99, 1.0}) {
      const auto rank = static_cast<std::size_t>(
          std::max(1.0, std::ceil(share * static_cast<double>(values.size()))));
      const auto exact = static_cast<double>(values[rank - 1]);
      EXPECT_NEAR(static_cast<double>(histogram.quantile(share)), exact, exact / 32)
          << share << " of " << values.size();
    }
  }
}

TEST(Histogram, TakesTheExtremesOfItsRange) {
  Histogram histogram;
  EXPECT_EQ(histogram.quantile(0.5), 0U);
  EXPECT_TRUE(histogram.blob().empty());
  histogram.add(~std::uint64_t{0});
  histogram.add(0);
  EXPECT_EQ(histogram.quantile(0.5), 0U);
  EXPECT_GT(histogram.quantile(1), ~std::uint64_t{0} / 32 * 31);
}

/// By the description in the schema, not by the code.
std::vector<std::pair<std::uint64_t, std::uint64_t>> decode(const std::vector<std::byte>& blob) {
  std::vector<std::uint64_t> numbers;
  bool begins = true;
  unsigned shift = 0;
  for (const std::byte byte : blob) {
    const auto bits = static_cast<std::uint64_t>(byte);
    if (begins) {
      numbers.push_back(0);
      shift = 0;
    }
    numbers.back() |= (bits & 0x7FU) << shift;
    shift += 7;
    begins = bits < 0x80U;
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> buckets;  // lowest value, count
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    const std::uint64_t bucket = numbers[0] + i - 1;
    const std::uint64_t d = bucket < 64 ? 0 : bucket / 32 - 1;
    if (numbers[i] != 0) {
      buckets.emplace_back((bucket - 32 * d) << d, numbers[i]);
    }
  }
  return buckets;
}

TEST(Histogram, BlobsHoldEveryValueInItsBucket) {
  const std::uint64_t seed = testing::test_seed();
  SCOPED_TRACE(testing::seed_note(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 50; ++round) {
    Histogram histogram;
    std::map<std::uint64_t, std::uint64_t> expected;
    for (const std::uint64_t value : random_values(random)) {
      histogram.add(value);
      std::uint64_t d = 0;
      while (value >> d >= 64) {
        ++d;
      }
      ++expected[value >> d << d];
    }
    const auto buckets = decode(histogram.blob());
    EXPECT_TRUE(std::ranges::equal(buckets, expected, [](const auto& a, const auto& b) {
      return a.first == b.first && a.second == b.second;
    }));
  }
}

TEST(NodeStats, MatchTheValuesTheyWereMadeOf) {
  const std::uint64_t seed = testing::test_seed();
  SCOPED_TRACE(testing::seed_note(seed));
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> values(1000);
  NodeStats stats;
  for (std::uint64_t& value : values) {
    value = 1'000'000'000 + random() % 1000;  // a difference of squares would lose this
  }
  for (std::size_t begin = 0, some = 1; begin < values.size(); begin += some) {
    some = std::min<std::size_t>(1 + random() % 100, values.size() - begin);
    stats.add(std::span(values).subspan(begin, some), 333'333'500);
  }
  const double mean = static_cast<double>(std::reduce(values.begin(), values.end())) / 1000;
  double squares = 0;
  for (const std::uint64_t value : values) {
    squares += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
  }
  EXPECT_EQ(stats.count(), 1000U);
  EXPECT_EQ(stats.sum_ns(), std::reduce(values.begin(), values.end()));
  EXPECT_EQ(stats.last_ns(), values.back());
  EXPECT_EQ(stats.min_ns(), *std::ranges::min_element(values));
  EXPECT_EQ(stats.max_ns(), *std::ranges::max_element(values));
  EXPECT_EQ(stats.below_bias(), static_cast<std::uint64_t>(std::ranges::count_if(
                                    values, [](std::uint64_t v) { return v < 1'000'000'500; })));
  EXPECT_NEAR(stats.mean_ns(), mean, 1e-3);
  EXPECT_NEAR(stats.stddev_ns(), std::sqrt(squares / 999), 1e-3);
  EXPECT_LE(stats.quantile_ns(1), stats.max_ns());
  EXPECT_GE(stats.quantile_ns(0), stats.min_ns());
}

}  // namespace
}  // namespace reprise
