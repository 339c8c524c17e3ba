// Device ticks to nanoseconds: wrap-around, ticks that are missing, and long replays.
#include "framework/profile/step_times.h"

#include <cstring>

#include "tests/testing.h"

namespace reprise {
namespace {

using profile::StepTimes;

DeviceInfo device(std::uint32_t bits, double period_ns = 1) {
  DeviceInfo info;
  info.timestamp_valid_bits = bits;
  info.timestamp_period_ns = period_ns;
  return info;
}

/// "start+duration" of every step; "-" for no duration.
std::string text(const std::vector<std::uint64_t>& ticks, const DeviceInfo& info) {
  StepTimes times;
  if (!times.read(ticks, info)) {
    return "none";
  }
  std::string all;
  for (std::size_t s = 0; s < times.size(); ++s) {
    const profile::StepTime step = times.step(s);
    all += (all.empty() ? "" : " ") + std::to_string(step.start_ns) + "+" +
           (step.duration_ns ? std::to_string(*step.duration_ns) : "-");
  }
  return all;
}

TEST(StepTimes, AreTheDifferencesOfTicksInNanoseconds) {
  EXPECT_EQ(text({100, 110, 110, 150}, device(64)), "0+10 10+0 10+40");
  EXPECT_EQ(text({100, 101, 102, 103}, device(64, 1.5)), "0+1 1+2 3+1");
  EXPECT_EQ(text({100}, device(64)), "");
}

TEST(StepTimes, GoOnWhereTheCounterWrapsAround) {
  EXPECT_EQ(text({0xFFFF'FFF0, 0xFFFF'FFFF, 0x10}, device(32)), "0+15 15+17");
  EXPECT_EQ(text({~std::uint64_t{0} - 4, 5}, device(64)), "0+10");
  EXPECT_EQ(text({0xABCD'0000'0010, 0x1234'0000'0020}, device(32)), "0+16");  // invalid bits
}

TEST(StepTimes, AreMissingBesideATickThatIsNone) {
  EXPECT_EQ(text({100, 110, 0, 150, 160}, device(64)), "0+10 10+- 10+- 50+10");
  EXPECT_EQ(text({100, 110, 105, 150}, device(64)), "0+10 10+- 10+-");
  EXPECT_EQ(text({100, 110, 105, 150}, device(36)), "0+10 10+- 10+-");
  EXPECT_EQ(text({0xFFFF'FFF0, 0, 0x10}, device(32)), "0+- 0+-");  // not where it wraps around
  EXPECT_EQ(text({0, 110}, device(64)), "none");
  EXPECT_EQ(text({}, device(64)), "none");
  EXPECT_EQ(text({100, 110}, device(0)), "none");
}

TEST(StepTimes, BlobsTakeTheLeastUnitThatLetsLongReplaysFit) {
  StepTimes times;
  const std::uint64_t end = std::uint64_t{10} * 0xFFFFFFFF + 12345;
  times.read(std::vector<std::uint64_t>{1, 1 + 999, 0, 1 + end}, device(64));
  EXPECT_EQ(times.unit_ns(), 11U);
  std::array<std::uint32_t, 6> words{};
  ASSERT_EQ(times.blob().size(), sizeof words);
  std::memcpy(words.data(), times.blob().data(), sizeof words);  // the test machine: little-endian
  EXPECT_EQ(words, (std::array<std::uint32_t, 6>{0, 90, 90, 0xFFFFFFFF, 90, 0xFFFFFFFF}));
  times.read(std::vector<std::uint64_t>{1, 1 + 0xFFFFFFFE}, device(64));
  EXPECT_EQ(times.unit_ns(), 1U);
  times.read(std::vector<std::uint64_t>{1, 1ULL + 0xFFFFFFFF}, device(64));
  EXPECT_EQ(times.unit_ns(), 2U);
}

TEST(StepTimes, EndsOfStepsAreStartsOfTheNextInAnyUnit) {
  const std::uint64_t seed = testing::test_seed();
  SCOPED_TRACE(testing::seed_note(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::uint64_t> ticks{1 + random() % 1'000'000};
    for (int step = 0; step < 100; ++step) {
      ticks.push_back(ticks.back() + (random() >> (20 + random() % 40)));
    }
    StepTimes times;
    ASSERT_TRUE(times.read(ticks, device(64, 0.37)));
    std::vector<std::uint32_t> words(200);
    ASSERT_EQ(times.blob().size(), 800U);
    std::memcpy(words.data(), times.blob().data(), 800);
    for (std::size_t s = 0; s < 100; ++s) {
      ASSERT_EQ(words[2 * s], times.step(s).start_ns / times.unit_ns());
      if (s < 99) {
        ASSERT_EQ(words[2 * s] + words[2 * s + 1], words[2 * s + 2]);
      }
    }
  }
}

}  // namespace
}  // namespace reprise
