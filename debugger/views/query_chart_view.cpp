#include "debugger/views/query_chart_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "debugger/model/format.h"
#include "debugger/views/choice_row.h"

namespace reprise::debugger {
namespace {

std::string height_text(double value) { return fmt::format("{:.4g}", value); }

std::string value_text(const SqlValue& value) {
  const auto* const text = std::get_if<std::string>(&value);
  const auto number = number_of(value);
  return text != nullptr ? text->substr(0, 200) : number ? fmt::format("{:.6g}", *number) : "";
}

/// Numbers that tell rows apart, and are no amounts.
bool is_id(const std::string& name) {
  return name == "id" || name == "idx" || name == "node" || name.ends_with("_id") ||
         name.ends_with("_idx");
}

}  // namespace

void QueryChartView::choose(const SqlResult& result) {
  heights_ = number_columns(result);
  x_ = y_ = 0;
  made_.reset();
  const auto amount = std::find_if(heights_.begin(), heights_.end(),
                                   [&](std::size_t c) { return !is_id(result.columns[c]); });
  if (amount != heights_.end()) {
    y_ = static_cast<std::size_t>(amount - heights_.begin());
  }
  for (std::size_t c = 0; !heights_.empty() && x_ == 0 && c < result.columns.size(); ++c) {
    x_ = c == heights_[y_] ? 0 : c + 1;
  }
}

void QueryChartView::draw_choice(Ui& ui, const Box& box, const SqlResult& result) {
  const float gap = ui.px(6), width = std::min(ui.px(150), (box.width() - 2 * gap) * 0.32F);
  std::vector<std::string> across{"row"}, up;
  across.insert(across.end(), result.columns.begin(), result.columns.end());
  for (const std::size_t column : heights_) {
    up.push_back(result.columns[column]);
  }
  ImGui::SetCursorScreenPos(box.min);
  ui.combo("y", up, y_, width);
  ImGui::SetCursorScreenPos({box.min.x + width + gap, box.min.y});
  ui.combo("x", across, x_, width);
  static const std::vector<Choice> kKinds = {{"bars", "Bars"}, {"line", "Line"}};
  const auto scope = ui.scope("kind");
  float left = 0;
  draw_choices(ui, {{box.min.x + 2 * (width + gap), box.min.y}, box.max}, kKinds, kind_, left);
}

const QueryChart& QueryChartView::chart(const SqlResult& result,
                                        std::span<const std::size_t> order) {
  if (!made_ || made_->x != x_ || made_->y != y_ || !std::ranges::equal(made_->order, order)) {
    const auto x = x_ == 0 ? std::nullopt : std::optional(x_ - 1);
    made_ = {{order.begin(), order.end()}, x_, y_, query_chart(result, order, x, heights_[y_])};
  }
  return made_->chart;
}

std::optional<std::size_t> QueryChartView::draw(Ui& ui, const Box& box, const SqlResult& result,
                                                std::span<const std::size_t> order) {
  const auto scope = ui.scope("chart");
  const float row = ui.row_height();
  if (heights_.empty() || y_ >= heights_.size() || x_ > result.columns.size()) {
    ui.text_in("empty", box, "The result has no column of numbers.",
               {.colour = Colour::dim, .align = Align::centre});
    return std::nullopt;
  }
  draw_choice(ui, {box.min, {box.max.x, box.min.y + row}}, result);
  const QueryChart& chart = this->chart(result, order);
  Box place{{box.min.x, box.min.y + row + ui.px(4)}, box.max};
  if (chart.left_out > 0) {
    place.max.y -= row;
    ui.text_in("left_out", {{box.min.x, place.max.y}, box.max},
               count_text(chart.left_out) + " rows have no number there", {.colour = Colour::dim});
  }
  std::vector<PlotPoint> points;
  points.reserve(chart.points.size());
  for (const ChartPoint& point : chart.points) {
    points.push_back({point.x, point.y});
  }
  const auto x_text = [&](const ChartPoint& point) {
    return x_ > 0 ? value_text(result.rows[point.row][x_ - 1]) : "row " + count_text(point.row + 1);
  };
  PlotAxes axes{.x_low = {}, .x_high = {}, .y = height_text};
  if (!chart.points.empty()) {
    axes.x_low = x_text(chart.points.front());
    axes.x_high = chart.points.size() > 1 ? x_text(chart.points.back()) : "";
  }
  const PlotHit hit = draw_chart(ui, "plot", place, points, static_cast<PlotKind>(kind_), axes);
  ui.publish("points", std::to_string(points.size()));
  if (!hit.hovered) {
    return std::nullopt;
  }
  const ChartPoint& point = chart.points[*hit.hovered];
  ui.tooltip((x_ > 0 ? result.columns[x_ - 1] + " " : "") + x_text(point) + "\n" +
             result.columns[heights_[y_]] + " " + value_text(result.rows[point.row][heights_[y_]]));
  return hit.clicked ? std::optional(point.row) : std::nullopt;
}

}  // namespace reprise::debugger
