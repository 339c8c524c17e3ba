#include "debugger/model/query_chart.h"

#include <gmock/gmock.h>
#include <limits>

#include <gtest/gtest.h>

namespace reprise::debugger {
namespace {

using ::testing::ElementsAre;

SqlResult table() {
  SqlResult result;
  result.columns = {"name", "place", "time"};
  result.rows = {{std::string("c"), std::int64_t{3}, 1.5},
                 {std::string("a"), std::int64_t{1}, std::int64_t{7}},
                 {std::string("b"), std::monostate{}, 2.5},
                 {std::string("d"), std::int64_t{2}, std::numeric_limits<double>::infinity()},
                 {std::string("e"), std::int64_t{0}, BlobSize{4}}};
  return result;
}

constexpr std::size_t kOrder[] = {4, 3, 2, 1, 0};

TEST(QueryChart, PointsAreInTheOrderOfTheirNumbers) {
  const QueryChart chart = query_chart(table(), kOrder, 1, 2);
  EXPECT_TRUE(chart.numbers);
  EXPECT_THAT(chart.points, ElementsAre(ChartPoint{1, 7, 1}, ChartPoint{3, 1.5, 0}));
  EXPECT_EQ(chart.left_out, 3U);
}

TEST(QueryChart, NamesAreCountedInTheOrderOfTheRows) {
  for (const auto x : {std::optional<std::size_t>(0), std::optional<std::size_t>()}) {
    const QueryChart chart = query_chart(table(), kOrder, x, 2);
    EXPECT_FALSE(chart.numbers);
    EXPECT_THAT(chart.points,
                ElementsAre(ChartPoint{2, 2.5, 2}, ChartPoint{3, 7, 1}, ChartPoint{4, 1.5, 0}));
  }
}

TEST(QueryChart, ColumnsOfNumbersHaveAtLeastOne) {
  SqlResult result = table();
  EXPECT_THAT(number_columns(result), ElementsAre(1, 2));
  result.rows.clear();
  EXPECT_TRUE(number_columns(result).empty());
}

}  // namespace
}  // namespace reprise::debugger
