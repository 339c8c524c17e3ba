#include "debugger/ui/plots.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

namespace reprise::debugger {
namespace {

constexpr float kLabelHeight = 18;  // at 1x

std::string height_text(double height) { return std::to_string(std::llround(height)); }

}  // namespace

void draw_histogram(Ui& ui, std::string_view id, const Box& box, std::span<const PlotBar> bars,
                    std::span<const PlotMarker> markers, std::string (*axis)(double),
                    BarHeight height) {
  if (bars.empty()) {
    return;
  }
  double low = bars.front().low, high = bars.back().high, tallest = 0;
  for (const PlotBar& bar : bars) {
    tallest = std::max(tallest, bar.height);
  }
  for (const PlotMarker& marker : markers) {
    low = std::min(low, marker.x);
    high = std::max(high, marker.x);
  }
  high = high > low ? high : low + 1;
  // One more than the height: a bar of 1 is no bar of 0.
  const auto level = [&](double bar) {
    return height == BarHeight::linear ? bar : std::log1p(std::max(bar, 0.0));
  };
  tallest = tallest > 0 ? level(tallest) : 1;
  const float label = ui.px(kLabelHeight);
  const Box plot{{box.min.x, box.min.y + label * static_cast<float>(markers.size())},
                 {box.max.x, box.max.y - label}};
  const auto x_of = [&](double value) {
    return plot.min.x + static_cast<float>((value - low) / (high - low)) * plot.width();
  };
  const Hit hit = ui.hit(id, box);
  ui.fill({{plot.min.x, plot.max.y - 1}, plot.max}, ui.colour(Colour::separator));
  for (const PlotBar& bar : bars) {
    const float left = x_of(bar.low);
    const float right = std::max(x_of(bar.high) - 1, left + 1);
    const float top = plot.max.y - static_cast<float>(level(bar.height) / tallest) * plot.height();
    const Box column{{left, plot.min.y}, {right, plot.max.y}};
    const bool hovered = hit.hovered && column.contains(ImGui::GetMousePos());
    if (bar.height > 0) {
      ui.fill({{left, std::min(top, plot.max.y - ui.px(1))}, {right, plot.max.y}},
              ui.colour(hovered ? Colour::text : Colour::elementwise, hovered ? 1.0F : 0.7F));
    }
    if (hovered) {
      ui.tooltip(axis(bar.low) + " to " + axis(bar.high) + ": " + height_text(bar.height));
    }
  }
  float row = box.min.y;
  for (const PlotMarker& marker : markers) {
    const float x = x_of(marker.x);
    ui.fill({{x - ui.px(0.5F), row}, {x + ui.px(0.5F), plot.max.y}}, ui.colour(marker.colour));
    const float width = ui.text_size(marker.label, FontKind::mono).x + ui.px(2);
    const float gap = ui.px(4);
    const float left = x + gap + width <= box.max.x ? x + gap : x - gap - width;
    ui.text_in("", {{left, row}, {left + width, row + label}}, marker.label,
               {.font = FontKind::mono, .colour = marker.colour});
    row += label;
  }
  const Box ends{{box.min.x, plot.max.y}, box.max};
  const float middle = (box.min.x + box.max.x) / 2;
  ui.text_in("", {ends.min, {middle, ends.max.y}}, axis(low),
             {.font = FontKind::mono, .colour = Colour::dim});
  ui.text_in("", {{middle, ends.min.y}, ends.max}, axis(high),
             {.font = FontKind::mono, .colour = Colour::dim, .align = Align::right});
}

namespace {

/// Halves first: the difference of the greatest and the least of all numbers is none.
double share_between(double value, double low, double high) {
  const double length = high / 2 - low / 2;
  return length > 0 ? std::clamp((value / 2 - low / 2) / length, 0.0, 1.0) : 0.5;
}

struct Column {
  float left = 0, right = 0;
  std::size_t point = 0;
};

/// Where each point stands; one for all that share a pixel.
std::vector<Column> columns_of(const Box& plot, std::span<const PlotPoint> points, PlotKind kind) {
  std::vector<Column> columns;
  const float slot = plot.width() / static_cast<float>(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const float at = plot.min.x + slot * static_cast<float>(i);
    const double share = share_between(points[i].x, points.front().x, points.back().x);
    const float left =
        kind == PlotKind::bars ? at : plot.min.x + static_cast<float>(share) * (plot.width() - 1);
    const float right = kind == PlotKind::bars ? std::max(at + slot, left + 1) : left + 1;
    const bool same = !columns.empty() && std::floor(columns.back().left) == std::floor(left);
    if (!same) {
      columns.push_back({left, right, i});
    } else if (std::abs(points[i].y) > std::abs(points[columns.back().point].y)) {
      columns.back().point = i;
    }
  }
  return columns;
}

void draw_bars(Ui& ui, const Box& plot, std::span<const Column> columns,
               std::span<const PlotPoint> points, std::optional<std::size_t> hovered, double low,
               double high) {
  const auto y_of = [&](double value) {
    return plot.max.y - static_cast<float>(share_between(value, low, high)) * plot.height();
  };
  const float base = y_of(0);
  for (const Column& column : columns) {
    const float gap = column.right - column.left > ui.px(4) ? ui.px(1) : 0;
    const float top = y_of(points[column.point].y);
    const float upper = std::min(top, base), lower = std::max(top, base);
    ui.fill({{column.left, std::min(upper, lower - 1)}, {column.right - gap, lower}},
            ui.colour(hovered == column.point ? Colour::text : Colour::accent, 0.85F));
  }
  ui.fill({{plot.min.x, base}, {plot.max.x, base + 1}}, ui.colour(Colour::dim, 0.6F));
}

void draw_polyline(Ui& ui, const Box& plot, std::span<const Column> columns,
                   std::span<const PlotPoint> points, std::optional<std::size_t> hovered,
                   double low, double high) {
  std::vector<ImVec2> line;
  line.reserve(columns.size());
  for (const Column& column : columns) {
    const auto share = static_cast<float>(share_between(points[column.point].y, low, high));
    line.push_back({column.left, plot.max.y - share * plot.height()});
    if (hovered == column.point) {
      ui.draw_list().AddCircleFilled(line.back(), ui.px(4), ui.colour(Colour::text));
    }
  }
  if (line.size() == 1) {
    ui.draw_list().AddCircleFilled(line.front(), ui.px(3), ui.colour(Colour::accent));
  }
  ui.draw_list().AddPolyline(line.data(), static_cast<int>(line.size()), ui.colour(Colour::accent),
                             ImDrawFlags_None, ui.px(1.5F));
}

}  // namespace

PlotHit draw_chart(Ui& ui, std::string_view id, const Box& box, std::span<const PlotPoint> points,
                   PlotKind kind, const PlotAxes& axes) {
  PlotHit found;
  if (points.empty()) {
    return found;
  }
  double low = kind == PlotKind::bars ? 0 : points.front().y, high = low;
  for (const PlotPoint& point : points) {
    low = std::min(low, point.y);
    high = std::max(high, point.y);
  }
  const float label = ui.px(kLabelHeight);
  constexpr FontKind kMono = FontKind::mono;
  const TextStyle dim{.font = kMono, .colour = Colour::dim};
  const std::string top = axes.y(high), bottom = axes.y(low);
  const float side =
      std::max(ui.text_size(top, kMono).x, ui.text_size(bottom, kMono).x) + ui.px(10);
  const Box plot{{box.min.x + side, box.min.y + ui.px(4)}, {box.max.x, box.max.y - label}};
  const Hit hit = ui.hit(id, box);
  if (plot.empty()) {
    return found;
  }
  const std::vector<Column> columns = columns_of(plot, points, kind);
  const float mouse = ImGui::GetMousePos().x;
  if (hit.hovered && mouse >= plot.min.x) {
    const auto after = std::upper_bound(columns.begin(), columns.end(), mouse,
                                        [](float x, const Column& c) { return x < c.left; });
    found.hovered = (after == columns.begin() ? columns.front() : *std::prev(after)).point;
    found.clicked = hit.clicked;
  }
  ui.fill({{plot.min.x, plot.max.y}, {plot.max.x, plot.max.y + 1}}, ui.colour(Colour::separator));
  ui.fill({{plot.min.x, plot.min.y}, {plot.max.x, plot.min.y + 1}}, ui.colour(Colour::separator));
  (kind == PlotKind::bars ? draw_bars : draw_polyline)(ui, plot, columns, points, found.hovered,
                                                       low, high);
  const float text = ui.px(kLabelHeight);
  ui.text_in("", {{box.min.x, plot.min.y}, {plot.min.x - ui.px(6), plot.min.y + text}}, top,
             {.font = kMono, .colour = Colour::dim, .align = Align::right});
  ui.text_in("", {{box.min.x, plot.max.y - text}, {plot.min.x - ui.px(6), plot.max.y}}, bottom,
             {.font = kMono, .colour = Colour::dim, .align = Align::right});
  const float middle = (plot.min.x + plot.max.x) / 2;
  ui.text_in("", {{plot.min.x, plot.max.y}, {middle, box.max.y}}, axes.x_low, dim);
  ui.text_in("", {{middle, plot.max.y}, {plot.max.x, box.max.y}}, axes.x_high,
             {.font = kMono, .colour = Colour::dim, .align = Align::right});
  return found;
}

}  // namespace reprise::debugger
