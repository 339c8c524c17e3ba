#include "debugger/ui/plots.h"

#include <algorithm>
#include <cmath>

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

}  // namespace reprise::debugger
