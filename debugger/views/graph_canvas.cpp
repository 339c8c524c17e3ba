#include "debugger/views/graph_canvas.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace reprise::debugger {
namespace {

constexpr std::string_view kEllipsis = "\xE2\x80\xA6";
constexpr float kTolerance = 0.5F;  // pixels, of rounding
constexpr int kCurveParts = 12;

struct SizedFont {
  ImFont* font = nullptr;
  float size = 0;  // pixels
  ImVec2 measure(std::string_view text) const {
    return font->CalcTextSizeA(size, FLT_MAX, 0, text.data(), text.data() + text.size());
  }
};

/// Glyphs that are scaled lose their stems: a font that is nearly as large stands in as it is.
SizedFont font_of(Ui& ui, const GraphCamera& camera, float size) {
  constexpr float kNear = 1.12F;
  const float pixels = std::max(camera.pixels(size), 1.0F);
  ImFont* font = nullptr;
  for (const FontKind kind : {FontKind::regular_tiny, FontKind::regular_small, FontKind::regular,
                              FontKind::regular_large}) {
    font = ui.font(kind);
    if (font->FontSize * kNear >= pixels) {
      break;
    }
  }
  const bool is_near = font->FontSize <= pixels * kNear && pixels <= font->FontSize * kNear;
  return {font, is_near ? font->FontSize : std::round(pixels)};
}

float distance_to_segment(ImVec2 point, ImVec2 a, ImVec2 b) {
  const float dx = b.x - a.x, dy = b.y - a.y;
  const float length = dx * dx + dy * dy;
  const float at = length > 0 ? ((point.x - a.x) * dx + (point.y - a.y) * dy) / length : 0.0F;
  const float t = std::clamp(at, 0.0F, 1.0F);
  return std::hypot(point.x - a.x - t * dx, point.y - a.y - t * dy);
}

}  // namespace

ImU32 mixed(ImU32 a, ImU32 b, float share_of_b) {
  const ImVec4 from = ImGui::ColorConvertU32ToFloat4(a), to = ImGui::ColorConvertU32ToFloat4(b);
  const auto mix = [&](float x, float y) { return x + (y - x) * share_of_b; };
  return ImGui::ColorConvertFloat4ToU32(
      {mix(from.x, to.x), mix(from.y, to.y), mix(from.z, to.z), mix(from.w, to.w)});
}

ImU32 with_alpha(ImU32 colour, float alpha) {
  const float old = static_cast<float>((colour >> IM_COL32_A_SHIFT) & 0xFFU);
  const auto scaled = static_cast<ImU32>(std::lround(old * std::clamp(alpha, 0.0F, 1.0F)));
  return (colour & ~IM_COL32_A_MASK) | scaled << IM_COL32_A_SHIFT;
}

float canvas_text_width(Ui& ui, const GraphCamera& camera, std::string_view text, float size) {
  return font_of(ui, camera, size).measure(text).x;
}

float draw_canvas_text(Ui& ui, const GraphCamera& camera, const Box& box, std::string_view text,
                       const CanvasText& style) {
  const SizedFont font = font_of(ui, camera, style.size);
  ImVec2 size = font.measure(text);
  std::string cut;
  if (size.x > box.width() + kTolerance) {
    const float room = box.width() - font.measure(kEllipsis).x;
    if (room <= 0) {
      return 0;
    }
    const char* end = text.data();
    font.font->CalcTextSizeA(font.size, room, 0, text.data(), text.data() + text.size(), &end);
    cut.assign(text.data(), end).append(kEllipsis);
    text = cut;
    size = font.measure(text);
  }
  const float share = style.align == Align::left ? 0.0F : style.align == Align::right ? 1.0F : 0.5F;
  const ImVec2 at{std::floor(box.min.x + (box.width() - size.x) * share),
                  std::floor(box.min.y + (box.height() - size.y) / 2)};
  ui.glyphs(*font.font, font.size, at, style.colour, text);
  return size.x;
}

float LinePainter::draw(std::span<const LayoutPoint> points, bool at_side, const CanvasLine& line) {
  flatten(points, at_side, line.aside);
  if (line.dashed) {
    draw_dashes(line);
  } else {
    ui_.draw_list().AddPolyline(path_.data(), static_cast<int>(path_.size()), line.colour,
                                ImDrawFlags_None, line.thickness);
  }
  if (line.arrow) {
    draw_arrow(line);
  }
  float nearest = std::numeric_limits<float>::infinity();
  for (std::size_t i = 1; i < path_.size(); ++i) {
    nearest =
        std::min(nearest, distance_to_segment(ImGui::GetIO().MousePos, path_[i - 1], path_[i]));
  }
  return nearest;
}

/// Points of one x are joined by a straight line, others by a curve that begins and ends upright.
void LinePainter::flatten(std::span<const LayoutPoint> points, bool at_side, float aside) {
  path_.clear();
  const auto screen = [&](LayoutPoint point) {
    const ImVec2 at = camera_.to_screen(point);
    return ImVec2{at.x + aside, at.y};
  };
  const Box& seen = camera_.viewport();
  ImVec2 from = screen(points[0]);
  path_.push_back(from);
  for (const LayoutPoint& point : points.subspan(1)) {
    const ImVec2 to = screen(point);
    const bool out_of_sight = std::max(from.y, to.y) < seen.min.y || from.y > seen.max.y;
    if (!at_side && std::abs(to.x - from.x) > 0.5F && !out_of_sight) {
      const float bend = (to.y - from.y) / 2;
      for (int i = 1; i < kCurveParts; ++i) {
        const float t = static_cast<float>(i) / kCurveParts, u = 1 - t;
        const float a = u * u * u, b = 3 * u * u * t, c = 3 * u * t * t, d = t * t * t;
        path_.push_back({(a + b) * from.x + (c + d) * to.x,
                         a * from.y + b * (from.y + bend) + c * (to.y - bend) + d * to.y});
      }
    }
    path_.push_back(to);
    from = to;
  }
}

void LinePainter::draw_dashes(const CanvasLine& line) const {
  const float dash = ui_.px(5), period = ui_.px(9);
  const Box& seen = camera_.viewport();
  float phase = 0;  // of the pattern at the start of a segment
  for (std::size_t i = 1; i < path_.size(); ++i) {
    const ImVec2 a = path_[i - 1], b = path_[i];
    const float length = std::hypot(b.x - a.x, b.y - a.y);
    if (length <= 0) {
      continue;
    }
    const ImVec2 step{(b.x - a.x) / length, (b.y - a.y) / length};
    // Long segments leave the viewport: only whole periods within it are drawn.
    float first = -phase, last = length;
    if (step.y > 0.5F) {
      first += std::max(std::floor((seen.min.y - a.y) / step.y / period), 0.0F) * period;
      last = std::min(last, (seen.max.y - a.y) / step.y);
    }
    for (float at = first; at < last; at += period) {
      const float begin = std::max(at, 0.0F), end = std::min(at + dash, length);
      if (begin < end) {
        ui_.draw_list().AddLine({a.x + step.x * begin, a.y + step.y * begin},
                                {a.x + step.x * end, a.y + step.y * end}, line.colour,
                                line.thickness);
      }
    }
    phase = std::fmod(phase + length, period);
  }
}

void LinePainter::draw_arrow(const CanvasLine& line) const {
  const ImVec2 tip = path_.back();
  const float size = std::clamp(camera_.pixels(5), 2.0F, ui_.px(8));
  ui_.draw_list().AddTriangleFilled({tip.x - size * 0.7F, tip.y - size * 1.4F},
                                    {tip.x + size * 0.7F, tip.y - size * 1.4F}, tip, line.colour);
}

}  // namespace reprise::debugger
