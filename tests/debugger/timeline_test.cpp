#include "debugger/model/timeline.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/seed.h"

namespace reprise::debugger {
namespace {

TEST(Timeline, PixelsAreCoveredWhereBarsAreAndNowhereElse) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937_64 random(seed);
  constexpr double kWidth = 100;
  for (int round = 0; round < 300; ++round) {
    std::vector<TimelineBar> bars;
    double at = -50;
    for (std::uint32_t i = 0; i < 200; ++i) {
      at += static_cast<double>(random() % 24) / 8;
      const double length = static_cast<double>(random() % (random() % 8 == 0 ? 160 : 7)) / 8;
      bars.push_back({at, at + length, i});
      at += length;
    }
    // Powers of two: pixels come out exact in float and double.
    const double begin = static_cast<double>(random() % 20);
    const double scale = std::exp2(static_cast<double>(random() % 4) - 1);
    std::vector<bool> expected(100, false), found(100, false);
    const auto cover = [kWidth](std::vector<bool>& pixels, double from, double to) {
      for (double p = std::floor(std::max(from, 0.0));
           p < std::min(std::max(to, from + 1e-9), kWidth); ++p) {
        pixels[static_cast<std::size_t>(p)] = true;
      }
    };
    for (const TimelineBar& bar : bars) {
      const double from = (bar.begin - begin) / scale, to = (bar.end - begin) / scale;
      if ((from >= 0 || to > 0) && from < kWidth) {
        // A thin one lights the pixel it begins in.
        cover(expected, from, to - from >= 1 ? to : std::floor(std::max(from, 0.0)) + 1);
      }
    }
    const std::vector<PixelBar> drawn = pixel_bars(bars, begin, scale, static_cast<float>(kWidth));
    std::uint32_t count = 0;
    for (const PixelBar& bar : drawn) {
      cover(found, static_cast<double>(bar.begin), static_cast<double>(bar.end));
      count += bar.count;
    }
    EXPECT_EQ(found, expected);
    EXPECT_EQ(count, std::count_if(bars.begin(), bars.end(), [&](const TimelineBar& bar) {
                return (bar.begin >= begin || bar.end > begin) &&
                       (bar.begin - begin) / scale < kWidth;
              }));
  }
}

TEST(Timeline, AHundredThousandThinStepsAreAsManyBarsAsPixels) {
  std::vector<TimelineBar> bars;
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    bars.push_back({static_cast<double>(i), i + (i == 70'007 ? 0.9 : 0.5), i});
  }
  const std::vector<PixelBar> drawn = pixel_bars(bars, 0, 100, 1000);
  ASSERT_EQ(drawn.size(), 1000U);
  EXPECT_EQ(drawn[3].count, 100U);
  EXPECT_EQ(drawn[700].longest, 70'007U);
}

TEST(Timeline, TheHostSubmitsBeforeTheDeviceBeginsAndWaitsAfterwards) {
  Capture capture;
  capture.steps.resize(2);
  ReplayRow replay;
  replay.prepare_ns = 300;
  replay.submit_ns = 700;
  replay.wait_ns = 5000;
  std::vector<CapturedStepTime> times(2);
  times[0] = {100, 900};
  times[1] = {1000, std::nullopt};
  const Timeline timeline = make_timeline(capture, {}, replay, times);
  ASSERT_EQ(timeline.host.size(), 3U);
  EXPECT_EQ(timeline.host[0].begin, -1000);
  EXPECT_EQ(timeline.host[1].begin, -700);
  EXPECT_EQ(timeline.host[1].end, 0);
  EXPECT_EQ(timeline.host[2].end, 5000);
  ASSERT_EQ(timeline.steps.size(), 1U);
  EXPECT_EQ(timeline.steps[0].end, 1000);
  EXPECT_EQ(timeline.begin, -1000);
  EXPECT_EQ(timeline.end, 5000);
}

TEST(Timeline, TicksAreRoundNumbersWithTheDigitsThatTellThemApart) {
  EXPECT_EQ(tick_step(1), 1);
  EXPECT_EQ(tick_step(1.1), 2);
  EXPECT_EQ(tick_step(300), 500);
  EXPECT_EQ(tick_step(51e6), 100e6);
  EXPECT_EQ(tick_text(0, 200e3), "0 µs");
  EXPECT_EQ(tick_text(7'527'100, 100), "7.5271 ms");
  EXPECT_EQ(tick_text(-5000, 5000), "-5 µs");
  EXPECT_EQ(tick_text(2e9, 1e9), "2 s");
}

TEST(Timeline, TimesOfAnotherNumberOfStepsAreNone) {
  Capture capture;
  capture.steps.resize(2);
  const Timeline timeline =
      make_timeline(capture, {}, {}, std::vector<CapturedStepTime>(3, {0, 10}));
  EXPECT_TRUE(timeline.steps.empty());
  EXPECT_GT(timeline.end, timeline.begin);
}

}  // namespace
}  // namespace reprise::debugger
