// Small plots on a canvas: a histogram with markers.
#pragma once
#include <cstdint>
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

}  // namespace reprise::debugger
