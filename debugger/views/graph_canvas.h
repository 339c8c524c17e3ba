// Text and lines of a canvas that zooms.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "debugger/ui/ui.h"
#include "debugger/views/graph_camera.h"

namespace reprise::debugger {

ImU32 mixed(ImU32 a, ImU32 b, float share_of_b);
ImU32 with_alpha(ImU32 colour, float alpha);

struct CanvasText {
  float size = 15;  // at zoom 1
  ImU32 colour = 0;
  Align align = Align::left;
};

/// One line, centred vertically, cut with an ellipsis if it is wider than the box. Returns the
/// width drawn. `text` has to be printable.
float draw_canvas_text(Ui& ui, const GraphCamera& camera, const Box& box, std::string_view text,
                       const CanvasText& style);
/// The width in pixels that a text needs.
float canvas_text_width(Ui& ui, const GraphCamera& camera, std::string_view text, float size);

struct CanvasLine {
  ImU32 colour = 0;
  float thickness = 1;  // pixels
  bool dashed = false;
  bool arrow = true;
  float aside = 0;  // pixels to the right of the route
};

/// Draws routes of a layout; one for a frame, as it keeps its memory.
class LinePainter {
 public:
  LinePainter(Ui& ui, const GraphCamera& camera) : ui_(ui), camera_(camera) {}
  /// Returns the distance of the mouse from it, in pixels.
  float draw(std::span<const LayoutPoint> points, bool at_side, const CanvasLine& line);

 private:
  void flatten(std::span<const LayoutPoint> points, bool at_side, float aside);
  void draw_dashes(const CanvasLine& line) const;
  void draw_arrow(const CanvasLine& line) const;

  Ui& ui_;
  const GraphCamera& camera_;
  std::vector<ImVec2> path_;  // in pixels
};

}  // namespace reprise::debugger
