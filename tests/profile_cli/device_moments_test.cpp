// Moments of a device on the clock of the host.
#include "debugger/cli/device_moments.h"

#include <random>

#include <gtest/gtest.h>

#include "tests/testing.h"

namespace reprise::cli {
namespace {

TEST(DeviceMoments, WithoutAComparisonThereAreNone) {
  EXPECT_EQ(DeviceMoments({}, 1, 64).host_ns(5, 5), std::nullopt);
}

TEST(DeviceMoments, AfterTheLastComparisonBothClocksGoEquallyFast) {
  const DeviceMoments moments({{1'000, 50}, {2'000, 550}}, 2, 64);
  EXPECT_EQ(moments.host_ns(1'100 + 700, 9'000), 2'700);
}

TEST(DeviceMoments, BeforeTheFirstComparisonBothClocksGoEquallyFast) {
  const DeviceMoments moments({{1'000, 50}, {2'000, 550}}, 2, 64);
  EXPECT_EQ(moments.host_ns(40, 900), 940);
}

TEST(DeviceMoments, BetweenComparisonsADriftIsSharedOut) {
  // The device counts 1,100 ns while the host counts 1,000.
  const DeviceMoments moments({{0, 0}, {1'000, 1'100}}, 1, 64);
  EXPECT_EQ(moments.host_ns(550, 500), 500);
}

TEST(DeviceMoments, ClocksThatWereNeverOnesOfTheSameTimeAreNotSharedOut) {
  const DeviceMoments moments({{0, 0}, {1'000, 900'000}}, 1, 64);
  EXPECT_EQ(moments.host_ns(550, 500), 550);
}

TEST(DeviceMoments, CountersThatWrapAroundAreFollowed) {
  const std::uint64_t seed = testing::test_seed();
  std::mt19937_64 random(seed);
  for (int i = 0; i < 200; ++i) {
    const std::int64_t bits = 24 + static_cast<std::int64_t>(random() % 20);
    const std::uint64_t mask = (std::uint64_t{1} << static_cast<unsigned>(bits)) - 1;
    const std::uint64_t ticks = random() & mask;
    const std::int64_t passed = static_cast<std::int64_t>(random() % (mask * 3));
    const std::int64_t device =
        static_cast<std::int64_t>((ticks + static_cast<std::uint64_t>(passed)) & mask);
    // What the host knows of the moment: less than half a round of the counter beside it.
    const std::int64_t near = passed + static_cast<std::int64_t>(random() % (mask / 3)) -
                              static_cast<std::int64_t>(mask / 6);
    const DeviceMoments moments({{7'000, ticks}}, 1, bits);
    EXPECT_EQ(moments.host_ns(device, 7'000 + near), 7'000 + passed)
        << bits << " bits, " << testing::seed_note(seed);
  }
}

}  // namespace
}  // namespace reprise::cli
