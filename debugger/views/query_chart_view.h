// Bars or a line of two columns of a query's result.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "debugger/model/query_chart.h"
#include "debugger/ui/plots.h"
#include "debugger/ui/ui.h"

namespace reprise::debugger {

class QueryChartView {
 public:
  /// Another result: chooses its first texts or numbers against its first numbers that are no ids.
  void choose(const SqlResult& result);
  /// Fills a box; `order` are the rows as they are shown. Returns the row that was clicked. Paths:
  /// chart/x, chart/y, chart/kind/<bars, line>, chart/plot, chart/empty, chart/left_out.
  std::optional<std::size_t> draw(Ui& ui, const Box& box, const SqlResult& result,
                                  std::span<const std::size_t> order);

 private:
  void draw_choice(Ui& ui, const Box& box, const SqlResult& result);
  const QueryChart& chart(const SqlResult& result, std::span<const std::size_t> order);

  std::size_t x_ = 0;                 // 0: the place of a row, or one more than a column
  std::size_t y_ = 0;                 // of heights_
  std::vector<std::size_t> heights_;  // columns with numbers
  std::size_t kind_ = 0;              // a PlotKind

  // What the chart was made of since choose(), and the chart.
  struct Made {
    std::vector<std::size_t> order;
    std::size_t x = 0, y = 0;
    QueryChart chart;
  };
  std::optional<Made> made_;
};

}  // namespace reprise::debugger
