#include "debugger/model/query_chart.h"

#include <algorithm>
#include <cmath>

namespace reprise::debugger {

std::optional<double> number_of(const SqlValue& value) {
  if (const auto* const whole = std::get_if<std::int64_t>(&value)) {
    return static_cast<double>(*whole);
  }
  const auto* const real = std::get_if<double>(&value);
  return real != nullptr && std::isfinite(*real) ? std::optional(*real) : std::nullopt;
}

std::vector<std::size_t> number_columns(const SqlResult& result) {
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < result.columns.size(); ++c) {
    if (std::any_of(result.rows.begin(), result.rows.end(),
                    [&](const auto& row) { return number_of(row[c]).has_value(); })) {
      columns.push_back(c);
    }
  }
  return columns;
}

QueryChart query_chart(const SqlResult& result, std::span<const std::size_t> order,
                       std::optional<std::size_t> x, std::size_t y) {
  QueryChart chart;
  // A text among them makes it a column of names.
  chart.numbers = x && std::none_of(result.rows.begin(), result.rows.end(), [&](const auto& row) {
                    return std::holds_alternative<std::string>(row[*x]);
                  });
  for (std::size_t place = 0; place < order.size(); ++place) {
    const auto& row = result.rows[order[place]];
    const auto across =
        chart.numbers ? number_of(row[*x]) : std::optional(static_cast<double>(place));
    const auto up = number_of(row[y]);
    if (across && up) {
      chart.points.push_back({*across, *up, order[place]});
    } else {
      ++chart.left_out;
    }
  }
  std::stable_sort(chart.points.begin(), chart.points.end(),
                   [](const ChartPoint& a, const ChartPoint& b) { return a.x < b.x; });
  return chart;
}

}  // namespace reprise::debugger
