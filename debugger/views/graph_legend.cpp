#include "debugger/views/graph_legend.h"

#include <cmath>

#include "debugger/model/format.h"

namespace reprise::debugger {
namespace {

constexpr float kLegendMargin = 12;
constexpr TextStyle kStyle{.font = FontKind::regular, .colour = Colour::dim};

float pad(const Ui& ui) { return ui.px(8); }

/// The inside of a bar.
Box plate(Ui& ui, const Box& bar) {
  ui.fill(bar, ui.colour(Colour::panel));
  const float middle = (bar.min.y + bar.max.y) / 2, half = ui.row_height() / 2;
  return {{bar.min.x + ui.px(kLegendMargin), middle - half},
          {std::max(bar.max.x - ui.px(kLegendMargin), bar.min.x + ui.px(kLegendMargin) + 1),
           middle + half}};
}

void draw_ramp(Ui& ui, const Box& bar, const std::string& min, const std::string& max,
               const std::string& note) {
  const float gap = pad(ui), ramp = ui.px(96);
  const auto width_of = [&](const std::string& text) {
    return text.empty() ? 0 : std::ceil(ui.text_size(text).x) + 1;
  };
  const float low = width_of(min), high = width_of(max), about = width_of(note);
  const Box box = plate(ui, bar);
  ui.text_in("", {box.min, {box.min.x + low, box.max.y}}, min, kStyle);
  const float left = box.min.x + low + gap, middle = (box.min.y + box.max.y) / 2;
  constexpr int kParts = 24;
  for (int i = 0; i < kParts; ++i) {
    const auto at = [&](int part) {
      return std::floor(left + ramp * static_cast<float>(part) / kParts);
    };
    ui.fill({{at(i), middle - ui.px(4)}, {at(i + 1), middle + ui.px(4)}},
            heat_colour(ui.theme(), (i + 0.5) / kParts));
  }
  const float right = left + ramp + gap;
  ui.text_in("legend", {{right, box.min.y}, {right + high, box.max.y}}, max, kStyle);
  const float rest = right + high + 2 * gap;
  if (about > 0 && rest < box.max.x) {
    ui.text_in("note", {{rest, box.min.y}, box.max}, note, kStyle);
  }
}

void draw_families(Ui& ui, const Box& bar) {
  const float swatch = ui.px(10), gap = ui.px(6), between = ui.px(12);
  const Box box = plate(ui, bar);
  const float middle = (box.min.y + box.max.y) / 2;
  float x = box.min.x;
  for (const OpFamilyColour& known : kFamilyColours) {
    ui.fill({{x, middle - swatch / 2}, {x + swatch, middle + swatch / 2}}, ui.colour(known.colour),
            ui.px(2));
    x += swatch + gap;
    const float text = std::ceil(ui.text_size(known.family).x);
    ui.text_in("", {{x, box.min.y}, {x + text, box.max.y}}, known.family, kStyle);
    x += text + between;
  }
}

}  // namespace

void draw_graph_legend(Ui& ui, const Box& bar, const GraphLook& look, const GraphPainter& painter) {
  if (look.colour_by == ColourBy::op) {
    draw_families(ui, bar);
    return;
  }
  const NodeValues* const values = look.values;
  const bool known = values == nullptr ? painter.hottest() > 0 : values->known();
  if (!known) {
    const std::string why =
        values == nullptr ? "No node was timed: set_timing(TimingMode::node)" : values->missing;
    ui.text_in("no_values", plate(ui, bar), why, kStyle);
    return;
  }
  if (values == nullptr) {
    draw_ramp(ui, bar, duration_text(std::uint64_t{0}), duration_text(painter.hottest()), "");
    return;
  }
  draw_ramp(ui, bar, values->min.empty() ? values->text(0) : values->min,
            values->max.empty() ? values->text(painter.greatest()) : values->max, values->note);
}

}  // namespace reprise::debugger
