// Small plots on a canvas: a histogram with markers, and a chart of bars or a line.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "debugger/ui/ui.h"

namespace reprise::debugger {

struct PlotMarker {
  double x = 0;
  std::string label;
  Colour colour = Colour::accent;
};

struct PlotBar {
  double low = 0, high = 0;  // on the x axis
  double height = 0;
};

enum class BarHeight : std::uint8_t { linear, logarithmic };

/// Bars over a linear x axis with both ends labelled by `axis`; markers are lines with a label,
/// each in a row of its own above the bars. The box has the path `id`; hovering a bar tells its
/// ends and height.
void draw_histogram(Ui& ui, std::string_view id, const Box& box, std::span<const PlotBar> bars,
                    std::span<const PlotMarker> markers, std::string (*axis)(double),
                    BarHeight height = BarHeight::linear);

struct PlotPoint {
  double x = 0, y = 0;
};
enum class PlotKind : std::uint8_t { bars, line };
struct PlotAxes {
  std::string x_low, x_high;           // of the first and the last point
  std::string (*y)(double) = nullptr;  // heights as text
};
/// Points by x, all numbers finite; bars stand on 0 and take the same room each, a line is drawn
/// over a linear axis. Of points that share a pixel the one furthest from 0 stands for all. The box
/// has the path `id`; returns the point under the mouse, and whether it was clicked.
struct PlotHit {
  std::optional<std::size_t> hovered;
  bool clicked = false;
};
PlotHit draw_chart(Ui& ui, std::string_view id, const Box& box, std::span<const PlotPoint> points,
                   PlotKind kind, const PlotAxes& axes);

}  // namespace reprise::debugger
