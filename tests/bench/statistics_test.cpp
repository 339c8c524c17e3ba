#include "bench/statistics.h"

#include <array>

#include "tests/testing.h"

namespace reprise::bench {
namespace {

TEST(Statistics, QuartilesLieBetweenNeighboursInAnyOrderOfTheValues) {
  const Summary s = summarize(std::array{7.0, 1.0, 3.0, 10.0});
  EXPECT_DOUBLE_EQ(s.q1, 2.5);
  EXPECT_DOUBLE_EQ(s.median, 5.0);
  EXPECT_DOUBLE_EQ(s.q3, 7.75);
}

TEST(Statistics, TheDeviationIsThatOfASample) {
  const Summary s = summarize(std::array{2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0});
  EXPECT_DOUBLE_EQ(s.mean, 5.0);
  EXPECT_NEAR(s.stddev, 2.138089935299395, 1e-12);  // sqrt(32 / 7)
}

TEST(Statistics, OneValueIsItsOwnQuartilesAndDoesNotDeviate) {
  const Summary s = summarize(std::array{3.0});
  EXPECT_EQ(s.q1, 3.0);
  EXPECT_EQ(s.median, 3.0);
  EXPECT_EQ(s.q3, 3.0);
  EXPECT_EQ(s.stddev, 0.0);
}

TEST(Statistics, QuantilesReachFromTheLeastToTheGreatest) {
  constexpr std::array kValues{-1.0, 0.0, 8.0};
  EXPECT_EQ(quantile(kValues, 0), -1.0);
  EXPECT_EQ(quantile(kValues, 1), 8.0);
}

TEST(Statistics, NoValuesAreRefused) {
  testing::expect_error(ErrorCode::invalid_argument, {"(0)"}, [] { (void)summarize({}); });
}

}  // namespace
}  // namespace reprise::bench
