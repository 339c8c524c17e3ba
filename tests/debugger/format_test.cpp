#include "debugger/model/format.h"

#include <limits>

#include <gtest/gtest.h>

namespace reprise::debugger {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr const char* kDash = "\xE2\x80\x94";

TEST(Format, DurationsHaveThreeDigits) {
  EXPECT_EQ(duration_text(0), "0 ns");
  EXPECT_EQ(duration_text(812), "812 ns");
  EXPECT_EQ(duration_text(1000), "1.00 µs");
  EXPECT_EQ(duration_text(9994), "9.99 µs");
  EXPECT_EQ(duration_text(9996), "10.0 µs");
  EXPECT_EQ(duration_text(12'345), "12.3 µs");
  EXPECT_EQ(duration_text(99'960), "100 µs");
  EXPECT_EQ(duration_text(999'400), "999 µs");
  EXPECT_EQ(duration_text(999'600), "1.00 ms");
  EXPECT_EQ(duration_text(2'310'000'000), "2.31 s");
  EXPECT_EQ(duration_text(12'345'000'000'000), "12345 s");
  EXPECT_EQ(duration_text(std::optional<std::uint64_t>(5)), "5 ns");
  EXPECT_EQ(duration_text(std::nullopt), kDash);
}

TEST(Format, WholeNanosecondsOfAnyNumber) {
  EXPECT_EQ(whole_ns(12.7), 12U);
  EXPECT_EQ(whole_ns(-1e300), 0U);
  EXPECT_EQ(whole_ns(0.0 / kInfinity * kInfinity), 0U);
  EXPECT_EQ(whole_ns(1e300), 18'000'000'000'000'000'000U);
}

TEST(Format, BytesHaveBinaryUnits) {
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1536), "1.50 KiB");
  EXPECT_EQ(bytes_text(std::uint64_t{2} << 30U), "2.00 GiB");
  EXPECT_EQ(bytes_text(~std::uint64_t{0}), "16.0 EiB");
}

TEST(Format, CountsHaveSeparators) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1024), "1,024");
  EXPECT_EQ(count_text(1'234'567), "1,234,567");
  EXPECT_EQ(count_text(~std::uint64_t{0}), "18,446,744,073,709,551,615");
}

TEST(Format, SharesAndRatesThatAreNoNumbersAreDashes) {
  EXPECT_EQ(percent_text(0.123), "12.3 %");
  EXPECT_EQ(percent_text(0.01234), "1.23 %");
  EXPECT_EQ(percent_text(1), "100.0 %");
  EXPECT_EQ(percent_text(0), "0.00 %");
  EXPECT_EQ(percent_text(0.0 / kInfinity * kInfinity), kDash);
  EXPECT_EQ(rate_text(2.5e9, "FLOP/s"), "2.50 GFLOP/s");
  EXPECT_EQ(rate_text(12, "B/s"), "12 B/s");
  EXPECT_EQ(rate_text(kInfinity, "B/s"), kDash);
  EXPECT_EQ(rate_text(-1, "B/s"), kDash);
}

}  // namespace
}  // namespace reprise::debugger
