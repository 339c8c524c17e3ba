// Two columns of a query's result as points of a chart.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reprise/sql_query.h"

namespace reprise::debugger {

/// The number of a value that is one, and finite.
std::optional<double> number_of(const SqlValue& value);

/// Columns with at least one number: those that have a height.
std::vector<std::size_t> number_columns(const SqlResult& result);

struct ChartPoint {
  double x = 0, y = 0;
  std::size_t row = 0;  // of the result
  bool operator==(const ChartPoint&) const = default;
};

struct QueryChart {
  std::vector<ChartPoint> points;  // by x
  bool numbers = true;             // x is a column of numbers, not the place of a row
  std::size_t left_out = 0;        // rows without a number where one has to be
};

/// `order` are the rows as they are shown. Without `x`, and for a column of texts, rows are counted
/// in that order.
QueryChart query_chart(const SqlResult& result, std::span<const std::size_t> order,
                       std::optional<std::size_t> x, std::size_t y);

}  // namespace reprise::debugger
