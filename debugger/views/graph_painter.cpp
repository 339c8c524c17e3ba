#include "debugger/views/graph_painter.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "debugger/model/format.h"
#include "debugger/ui/icons.h"
#include "debugger/views/graph_canvas.h"

namespace reprise::debugger {
namespace {

constexpr float kPale = 0.28F;
constexpr float kLabelSize = 15, kDetailSize = 13, kInputSize = 12;
constexpr float kBarWidth = 5, kInset = 14, kRight = 10;
constexpr float kMinLabelled = 20;  // height of a frame that is named beside the graph

Colour family_of(const GraphLook& look, const FoldedGraph::Box& box) {
  std::array<std::uint64_t, static_cast<std::size_t>(Colour::count)> weights{};
  for (std::uint32_t node = box.first; node < box.first + box.count; ++node) {
    weights[static_cast<std::size_t>(family_colour(look.capture.nodes[node].family))] +=
        look.times.known() ? look.times.of(node, 1) : 1;
  }
  const auto max = std::max_element(weights.begin(), weights.end());
  return *max == 0 ? family_colour(look.capture.nodes[box.first].family)
                   : static_cast<Colour>(max - weights.begin());
}

/// The width to cut others to so that all together fit.
float widest_that_fits(std::vector<float> widths, float room) {
  std::sort(widths.begin(), widths.end());
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const float share = room / static_cast<float>(widths.size() - i);
    if (widths[i] > share) {
      return share;
    }
    room -= widths[i];
  }
  return widths.back();
}

}  // namespace

GraphPainter::GraphPainter(Ui& ui, const GraphCamera& camera, const GraphLook& look)
    : ui_(ui), camera_(camera), look_(look) {
  const SceneRect seen = camera.visible();
  for (std::uint32_t b = 0; b < look.scene.boxes.size(); ++b) {
    if (look.scene.boxes[b].rect.overlaps(seen)) {
      visible_.push_back(b);
    }
  }
  find_colours();
  if (look.hovered) {
    near_.assign(look.scene.boxes.size(), false);
    near_[*look.hovered] = true;
    for (const GraphScene::Line& line : look.scene.lines) {
      if (line.src == *look.hovered || line.dst == *look.hovered) {
        near_[line.src] = near_[line.dst] = true;
      }
    }
  }
}

void GraphPainter::find_heat() {
  const auto& boxes = look_.scene.graph.boxes;
  for (const FoldedGraph::Box& box : boxes) {
    if (look_.values != nullptr) {
      greatest_ = std::max(greatest_, look_.values->of(box.first, box.count).value_or(0));
    }
  }
  // The scale of times is of what is seen: beside a folded layer all nodes would be alike.
  for (const std::uint32_t b : visible_) {
    hottest_ = std::max(hottest_, look_.times.of(boxes[b].first, boxes[b].count));
  }
  for (const FoldedGraph::Box& box : boxes) {
    const auto heat = heat_of(box.first, box.count);
    heat_.push_back(heat ? std::optional(static_cast<float>(*heat)) : std::nullopt);
  }
}

std::optional<double> GraphPainter::heat_of(std::uint32_t first, std::uint32_t count) const {
  if (look_.values != nullptr) {
    const auto value = look_.values->of(first, count);
    return value ? std::optional(look_.values->heat_of(*value, greatest_)) : std::nullopt;
  }
  if (!look_.times.known()) {
    return std::nullopt;
  }
  return hottest_ == 0 ? 0
                       : std::min(1.0, static_cast<double>(look_.times.of(first, count)) /
                                           static_cast<double>(hottest_));
}

void GraphPainter::find_colours() {
  find_heat();
  const auto& boxes = look_.scene.graph.boxes;
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    if (look_.colour_by == ColourBy::op) {
      colours_.push_back(ui_.colour(family_of(look_, boxes[b])));
    } else {
      // What has no value stands back behind what has one.
      const Colour none =
          look_.values != nullptr && look_.values->known() ? Colour::raised : Colour::dim;
      colours_.push_back(heat_[b] ? heat_colour(ui_.theme(), static_cast<double>(*heat_[b]))
                                  : ui_.colour(none));
    }
  }
}

bool GraphPainter::pale(std::uint32_t box) const {
  if (look_.hovered_line) {
    const GraphScene::Line& line = look_.scene.lines[*look_.hovered_line];
    return box != line.src && box != line.dst;
  }
  return look_.hovered && !near_[box];
}

bool GraphPainter::pale_line(const GraphScene::Line& line, std::uint32_t index) const {
  if (look_.hovered_line) {
    return index != *look_.hovered_line;
  }
  return look_.hovered && line.src != *look_.hovered && line.dst != *look_.hovered;
}

// ---- frames

Box GraphPainter::frame_header(const GraphScene::Frame& frame) const {
  const Box box = camera_.to_screen(frame.rect);
  return {box.min, {box.max.x, box.min.y + camera_.pixels(GraphScene::kHeader)}};
}

void GraphPainter::draw_frames() {
  std::vector<const GraphScene::Frame*> tall;
  for (const GraphScene::Frame& frame : look_.scene.frames) {
    const Box box = camera_.to_screen(frame.rect);
    if (box.intersection(camera_.viewport()).empty()) {
      continue;
    }
    const bool odd = look_.scopes[frame.item].depth % 2 == 1;
    const float rounding = std::min(camera_.pixels(6), ui_.px(8));
    const bool selected = look_.selected_item == frame.item;
    ui_.fill(box, ui_.colour(odd ? Colour::panel : Colour::header), rounding);
    ui_.frame(box, ui_.colour(selected ? Colour::accent : Colour::separator), rounding,
              selected ? ui_.px(1.5F) : 1);
    if (!has_text()) {
      if (box.height() >= ui_.px(kMinLabelled)) {
        tall.push_back(&frame);
      }
      continue;
    }
    const Box header = frame_header(frame);
    const float indent = camera_.pixels(8), caret = camera_.pixels(14);
    draw_canvas_text(ui_, camera_, {{header.min.x + indent, header.min.y}, header.max},
                     icon::kUnfold, {kDetailSize, ui_.colour(Colour::dim), Align::left});
    const float name = header.min.x + indent + caret;
    const float width = draw_canvas_text(
        ui_, camera_, {{name, header.min.y}, {header.max.x - indent, header.max.y}}, frame.label,
        {kDetailSize, ui_.colour(Colour::text), Align::left});
    if (look_.times.known()) {
      const ScopeTree::Item& item = look_.scopes[frame.item];
      const std::string text = duration_text(look_.times.of(item)) + " \xC2\xB7 " +
                               percent_text(look_.times.share(item));
      const Box rest{{name + width + indent, header.min.y},
                     {header.max.x - camera_.pixels(frame.side), header.max.y}};
      if (canvas_text_width(ui_, camera_, text, kInputSize) < rest.width()) {
        draw_canvas_text(ui_, camera_, rest, text,
                         {kInputSize, ui_.colour(Colour::dim), Align::right});
      }
    }
  }
  draw_frame_names(tall);
}

/// In a column at the left of the graph, for the innermost frames that are tall enough for a line.
void GraphPainter::draw_frame_names(const std::vector<const GraphScene::Frame*>& tall) {
  for (std::size_t i = 0; i < tall.size(); ++i) {
    if (i + 1 < tall.size() && tall[i]->rect.contains(tall[i + 1]->rect)) {
      continue;
    }
    const Box box = camera_.to_screen(tall[i]->rect);
    const float right = camera_.to_screen(look_.scene.bounds.min).x;
    const float top = std::max(box.min.y, camera_.viewport().min.y);
    const std::string& path = look_.scopes[tall[i]->item].path;
    ui_.text_in("", {{right - ui_.px(180), top}, {right, top + ui_.px(kMinLabelled)}},
                path.size() <= 100 ? path : path.substr(path.size() - 100),
                {.font = FontKind::regular, .colour = Colour::dim, .align = Align::right});
  }
}

// ---- lines

std::optional<std::uint32_t> GraphPainter::draw_lines() {
  std::optional<std::uint32_t> nearest;
  LinePainter painter(ui_, camera_);
  float distance = ui_.px(5);
  const SceneRect seen = camera_.visible();
  const auto draw = [&](std::uint32_t i, bool highlighted) {
    const GraphScene::Line& line = look_.scene.lines[i];
    const bool barrier = line.kind == GraphScene::LineKind::barrier;
    if ((barrier && !look_.barriers) || !line.bounds.overlaps({{seen.min.x - 1, seen.min.y - 1},
                                                               {seen.max.x + 1, seen.max.y + 1}})) {
      return;
    }
    CanvasLine style;
    style.thickness = std::max(1.0F, std::min(camera_.pixels(1.6F), ui_.px(2)));
    style.colour = ui_.colour(Colour::dim, 0.75F);
    if (line.kind == GraphScene::LineKind::overwrites) {
      style.thickness = 1;
      style.colour = ui_.colour(Colour::dim, 0.4F);
    } else if (barrier) {
      style.dashed = true;
      style.aside = std::min(camera_.pixels(8), ui_.px(8));
      style.thickness = std::min(style.thickness, ui_.px(1.5F));
      style.colour = ui_.colour(Colour::attention, 0.85F);
    }
    if (highlighted) {
      style.colour = ui_.colour(barrier ? Colour::attention : Colour::text);
      style.thickness *= 1.4F;
    } else if (pale_line(line, i)) {
      style.colour = with_alpha(style.colour, kPale);
    }
    style.arrow = has_text();
    const float away =
        painter.draw(std::span(look_.scene.points).subspan(line.route.first, line.route.count),
                     line.route.at_side, style);
    if (away < distance) {
      distance = away;
      nearest = i;
    }
  };
  const bool lit = look_.hovered || look_.hovered_line;
  const auto lines = static_cast<std::uint32_t>(look_.scene.lines.size());
  for (std::uint32_t i = 0; i < lines; ++i) {
    if (!lit || pale_line(look_.scene.lines[i], i)) {
      draw(i, false);
    }
  }
  for (std::uint32_t i = 0; lit && i < lines; ++i) {
    if (!pale_line(look_.scene.lines[i], i)) {
      draw(i, true);
    }
  }
  return nearest;
}

// ---- boxes

void GraphPainter::draw_boxes() {
  for (const std::uint32_t box : visible_) {
    draw_box(box);
  }
}

std::string GraphPainter::time_text(std::uint32_t box) const {
  const FoldedGraph::Box& shown = look_.scene.graph.boxes[box];
  if (look_.values != nullptr) {
    const auto value = look_.values->of(shown.first, shown.count);
    return value ? look_.values->text(*value) : "";
  }
  return look_.times.known() ? duration_text(look_.times.of(shown.first, shown.count)) : "";
}

void GraphPainter::draw_box(std::uint32_t b) {
  const FoldedGraph::Box& box = look_.scene.graph.boxes[b];
  const Box place = camera_.to_screen(look_.scene.boxes[b].rect);
  const float alpha = pale(b) ? kPale : 1.0F;
  const ImU32 raised = ui_.colour(Colour::raised);
  if (!has_text()) {
    const float rounding = place.height() > 6 ? std::min(camera_.pixels(4), ui_.px(4)) : 0;
    const Box seen{
        place.min,
        {std::max(place.max.x, place.min.x + 1), std::max(place.max.y, place.min.y + 1)}};
    ui_.fill(seen, with_alpha(mixed(raised, colours_[b], 0.8F), alpha), rounding);
    if (holds_not_finite(b)) {
      draw_mark(seen);
    }
    if (look_.selected == b || holds_selected(b)) {
      ui_.frame({{seen.min.x - 2, seen.min.y - 2}, {seen.max.x + 2, seen.max.y + 2}},
                ui_.colour(Colour::accent), rounding, ui_.px(2));
    }
    return;
  }
  const float rounding = camera_.pixels(5);
  if (box.kind == ScopeTree::Kind::group) {
    for (const float card : {2.0F, 1.0F}) {
      const float inset = camera_.pixels(6 * card), down = camera_.pixels(4 * card);
      const Box behind{{place.min.x + inset, place.max.y - rounding * 2},
                       {place.max.x - inset, place.max.y + down}};
      ui_.fill(behind,
               with_alpha(mixed(raised, ui_.colour(Colour::background), 0.35F * (card - 1)), alpha),
               rounding);
      ui_.frame(behind, ui_.colour(Colour::background), rounding);
    }
  }
  const bool by_op = look_.colour_by == ColourBy::op;
  const float glow = by_op ? 0.16F : 0.05F + 0.25F * heat_[b].value_or(0);
  const bool coloured = by_op || heat_[b];
  // Opaque first: lines must not shine through a pale box.
  ui_.fill(place, ui_.colour(Colour::background), rounding);
  ui_.fill(place, with_alpha(coloured ? mixed(raised, colours_[b], glow) : raised, alpha),
           rounding);
  ui_.draw_list().AddRectFilled(place.min, {place.min.x + camera_.pixels(kBarWidth), place.max.y},
                                with_alpha(colours_[b], alpha), rounding,
                                ImDrawFlags_RoundCornersLeft);
  const bool several = holds_selected(b);
  const bool exact = look_.selected_item == box.item || several;
  if (look_.selected == b || several) {
    ui_.frame(place, ui_.colour(Colour::accent, exact ? 1.0F : 0.5F), rounding, ui_.px(2));
  } else if (look_.hovered == b) {
    ui_.frame(place, ui_.colour(Colour::dim), rounding, ui_.px(1));
  }
  if (holds_not_finite(b)) {
    draw_mark(place);
  }
  draw_box_text(b, place, alpha);
  if (box.kind == ScopeTree::Kind::group) {
    draw_strip(b, alpha);
  } else if (camera_.zoom() >= kInputsZoom) {
    draw_inputs(b, alpha);
  }
}

bool GraphPainter::holds_selected(std::uint32_t box) const {
  const FoldedGraph::Box& of = look_.scene.graph.boxes[box];
  const auto found =
      std::lower_bound(look_.selected_nodes.begin(), look_.selected_nodes.end(), of.first);
  return found != look_.selected_nodes.end() && *found - of.first < of.count;
}

bool GraphPainter::holds_not_finite(std::uint32_t box) const {
  const FoldedGraph::Box& of = look_.scene.graph.boxes[box];
  if (look_.not_finite == nullptr || of.first + of.count > look_.not_finite->size()) {
    return false;
  }
  const auto begin = look_.not_finite->begin() + of.first;
  return std::find(begin, begin + of.count, true) != begin + of.count;
}

/// A stripe at the right end, as tall as the box.
void GraphPainter::draw_mark(const Box& place) const {
  const float width = std::clamp(camera_.pixels(5), ui_.px(2), std::max(place.width(), ui_.px(2)));
  ui_.fill({{place.max.x - width, place.min.y}, place.max}, ui_.colour(Colour::nan));
}

Box GraphPainter::caret_of(std::uint32_t box) const {
  const Box place = camera_.to_screen(look_.scene.boxes[box].rect);
  return {{place.min.x + camera_.pixels(kBarWidth), place.min.y + camera_.pixels(4)},
          {place.min.x + camera_.pixels(kInset + 14), place.min.y + camera_.pixels(28)}};
}

void GraphPainter::draw_box_text(std::uint32_t b, const Box& place, float alpha) {
  const FoldedGraph::Box& box = look_.scene.graph.boxes[b];
  const GraphScene::Box& shown = look_.scene.boxes[b];
  const auto row = [&](float top, float bottom) {
    return Box{{place.min.x + camera_.pixels(kInset), place.min.y + camera_.pixels(top)},
               {place.max.x - camera_.pixels(kRight), place.min.y + camera_.pixels(bottom)}};
  };
  const ImU32 text = ui_.colour(Colour::text, alpha);
  // A secondary colour that stays legible on hot boxes.
  const ImU32 faint = mixed(with_alpha(ui_.colour(Colour::dim), alpha), text, 0.35F);
  const float gap = camera_.pixels(8);

  Box first = row(5, 27);
  const float time =
      draw_canvas_text(ui_, camera_, first, time_text(b), {kDetailSize, text, Align::right});
  first.max.x -= time + gap;
  if (box.kind != ScopeTree::Kind::node) {
    draw_canvas_text(ui_, camera_, first, icon::kFold, {kDetailSize, faint, Align::left});
    first.min.x += camera_.pixels(12);
  }
  draw_canvas_text(ui_, camera_, first, shown.label, {kLabelSize, text, Align::left});

  Box second = row(26, 45);
  if (look_.times.known() && look_.values == nullptr) {
    const std::string share = percent_text(look_.times.share(box.first, box.count));
    second.max.x -=
        gap + draw_canvas_text(ui_, camera_, second, share, {kDetailSize, faint, Align::right});
  }
  if (look_.barriers && !box.barriers.empty()) {
    const std::string barriers =
        std::string(icon::kBarrier) + " " + count_text(box.barriers.size());
    const ImU32 violet = ui_.colour(Colour::attention, 0.8F * alpha);
    second.max.x -=
        gap + draw_canvas_text(ui_, camera_, second, barriers, {kDetailSize, violet, Align::right});
  }
  draw_canvas_text(ui_, camera_, second, shown.detail, {kDetailSize, faint, Align::left});
}

/// A chip per tensor, as wide as its name; the widest are cut if not all fit.
void GraphPainter::draw_inputs(std::uint32_t b, float alpha) {
  const GraphScene::Box& shown = look_.scene.boxes[b];
  if (shown.inputs.empty()) {
    return;
  }
  const Box row = inputs_of(b);
  const float gap = camera_.pixels(4), pad = camera_.pixels(6);
  const std::size_t more = look_.scene.graph.boxes[b].inputs.size() - shown.inputs.size();
  std::vector<std::string> chips = shown.inputs;
  if (more > 0) {
    chips.push_back("+" + count_text(more));
  }
  std::vector<float> widths;
  widths.reserve(chips.size());
  for (const std::string& chip : chips) {
    widths.push_back(canvas_text_width(ui_, camera_, chip, kInputSize) + 2 * pad);
  }
  const float widest =
      widest_that_fits(widths, row.width() - gap * static_cast<float>(chips.size() - 1));
  float x = row.min.x;
  for (std::size_t i = 0; i < chips.size(); ++i) {
    const float width = std::min(widths[i], widest);
    const Box chip{{x, row.min.y}, {x + width, row.max.y}};
    ui_.fill(chip, ui_.colour(Colour::background, 0.55F * alpha), camera_.pixels(9));
    draw_canvas_text(ui_, camera_, {{chip.min.x + pad, chip.min.y}, {chip.max.x - pad, chip.max.y}},
                     chips[i], {kInputSize, ui_.colour(Colour::dim, alpha), Align::left});
    x += width + gap;
  }
}

// ---- repetitions of a group

Box GraphPainter::strip_of(std::uint32_t box) const {
  const Box place = camera_.to_screen(look_.scene.boxes[box].rect);
  return {{place.min.x + camera_.pixels(kInset), place.max.y - camera_.pixels(30)},
          {place.max.x - camera_.pixels(kRight), place.max.y - camera_.pixels(8)}};
}

Box GraphPainter::inputs_of(std::uint32_t box) const {
  const Box place = camera_.to_screen(look_.scene.boxes[box].rect);
  return {{place.min.x + camera_.pixels(kInset), place.max.y - camera_.pixels(26)},
          {place.max.x - camera_.pixels(kRight), place.max.y - camera_.pixels(8)}};
}

std::optional<std::uint32_t> GraphPainter::repetition_at(std::uint32_t box, ImVec2 mouse) const {
  const Box strip = strip_of(box);
  const auto& repeated = look_.scopes[look_.scene.graph.boxes[box].item].children;
  if (!strip.contains(mouse) || repeated.empty()) {
    return std::nullopt;
  }
  const auto cell = static_cast<std::size_t>((mouse.x - strip.min.x) / strip.width() *
                                             static_cast<float>(repeated.size()));
  return repeated[std::min(cell, repeated.size() - 1)];
}

/// A bar per repetition, as high as its share of the slowest; its colour tells how it differs from
/// the median, so that an even group is calm and one slow layer is not.
void GraphPainter::draw_strip(std::uint32_t b, float alpha) {
  const auto& repeated = look_.scopes[look_.scene.graph.boxes[b].item].children;
  const Box strip = strip_of(b);
  const float rim = camera_.pixels(3);
  ui_.fill({{strip.min.x - rim, strip.min.y - rim}, {strip.max.x + rim, strip.max.y + rim}},
           ui_.colour(Colour::background, 0.45F * alpha), camera_.pixels(3));
  std::vector<std::uint64_t> times;
  times.reserve(repeated.size());
  for (const std::uint32_t item : repeated) {
    times.push_back(look_.times.of(look_.scopes[item]));
  }
  std::vector<std::uint64_t> sorted = times;
  std::sort(sorted.begin(), sorted.end());
  const auto median = static_cast<double>(sorted[sorted.size() / 2]);
  const auto colour_of = [&](std::size_t repetition, double differs) {
    if (look_.values != nullptr) {
      const ScopeTree::Item& item = look_.scopes[repeated[repetition]];
      const auto heat = heat_of(item.first, item.count);
      return heat ? heat_colour(ui_.theme(), *heat) : ui_.colour(Colour::dim);
    }
    return !look_.times.known() ? ui_.colour(Colour::dim) : heat_colour(ui_.theme(), differs);
  };
  const auto slowest = static_cast<double>(sorted.back());
  const float width = strip.width() / static_cast<float>(times.size());
  const float gap = width > 5 ? std::max(1.0F, camera_.pixels(1)) : width > 3 ? 1.0F : 0.0F;
  const auto step = std::max<std::size_t>(1, static_cast<std::size_t>(1 / std::max(width, 0.01F)));
  for (std::size_t i = 0; i < times.size(); i += step) {
    const auto time = static_cast<double>(*std::max_element(
        times.begin() + static_cast<std::ptrdiff_t>(i),
        times.begin() + static_cast<std::ptrdiff_t>(std::min(i + step, times.size()))));
    const double height = slowest > 0 ? std::max(time / slowest, 0.1) : 0.35;
    const double differs = median > 0 ? 0.3 + 0.7 * (time / median - 1) : 0;
    const bool by_op = look_.colour_by == ColourBy::op && look_.times.known();
    const ImU32 colour = by_op ? colours_[b] : colour_of(i, differs);
    const float x = strip.min.x + width * static_cast<float>(i);
    ui_.fill({{x, strip.max.y - strip.height() * static_cast<float>(height)},
              {x + width * static_cast<float>(step) - gap, strip.max.y}},
             with_alpha(colour, alpha), width > 5 ? 1 : 0);
  }
}

}  // namespace reprise::debugger
