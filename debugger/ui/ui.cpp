#include "debugger/ui/ui.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <imgui_internal.h>
#include <utility>

#include "debugger/ui/clean_text.h"

namespace reprise::debugger {
namespace {

constexpr std::string_view kEllipsis = "\xE2\x80\xA6";
constexpr float kTolerance = 1;  // pixels, of rounding

/// Hashes of paths name things to ImGui: it gives "##" in names a meaning.
int imgui_id(std::string_view path) {
  return static_cast<int>(std::hash<std::string_view>()(path));
}

ImVec2 size_of(ImFont& font, std::string_view text, float wrap = 0) {
  return font.CalcTextSizeA(font.FontSize, FLT_MAX, wrap, text.data(), text.data() + text.size());
}

/// The longest beginning of a text that fits, with an ellipsis after it; nothing if there is none.
std::string elided(ImFont& font, std::string_view text, float width) {
  const float left = width - size_of(font, kEllipsis).x;
  if (left < 0) {
    return {};
  }
  const char* end = text.data();
  font.CalcTextSizeA(font.FontSize, left, 0, text.data(), text.data() + text.size(), &end);
  std::string_view kept = text.substr(0, static_cast<std::size_t>(end - text.data()));
  while (kept.ends_with(' ')) {
    kept.remove_suffix(1);
  }
  return std::string(kept).append(kEllipsis);
}

}  // namespace

Ui::Ui(const Fonts& fonts, const Theme& theme, WidgetRegistry& registry, KeyQueue& keys,
       Pointer& pointer, float scale)
    : fonts_(fonts),
      theme_(theme),
      registry_(registry),
      keys_(keys),
      pointer_(pointer),
      scale_(scale) {}

ImU32 Ui::colour(Colour colour, float alpha) const {
  const ImU32 opaque = theme_[colour];
  const auto share = static_cast<ImU32>(std::lround(std::clamp(alpha, 0.0F, 1.0F) * 255.0F));
  return (opaque & ~IM_COL32_A_MASK) | share << IM_COL32_A_SHIFT;
}

ImVec2 Ui::text_size(std::string_view text, FontKind font) const {
  return size_of(*fonts_[font], clean_line(text));
}

std::string Ui::path_of(std::string_view id) const {
  return path_.empty() ? std::string(id) : std::string(path_).append("/").append(id);
}

// ---- scopes

Ui::Scope::Scope(Ui& ui, std::string_view id) : ui_(ui), length_(ui.path_.size()) {
  ui_.path_ = ui_.path_of(clean_line(id));
  ImGui::PushID(imgui_id(ui_.path_));
}

Ui::Scope::~Scope() {
  ImGui::PopID();
  ui_.path_.resize(length_);
}

Ui::Scope Ui::scope(std::uint64_t id) { return Scope(*this, std::to_string(id)); }

Ui::Region::Region(Ui& ui, std::string_view id, ImVec2 size, bool scrolls)
    : scope_(ui, id), scrolled_outside_(std::exchange(ui.scrolls_, scrolls)) {
  const ImGuiWindowFlags fixed = ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse;
  ImGui::BeginChild(
      "region", {size.x < 0 ? 1 : size.x, size.y < 0 ? 1 : size.y}, false,
      ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoNav | (scrolls ? ImGuiWindowFlags_None : fixed));
}

Ui::Region::~Region() {
  ImGui::EndChild();
  scope_.ui().scrolls_ = scrolled_outside_;
}

Ui::Canvas::Canvas(Ui& ui, const Box& box) : ui_(ui), outside_(std::exchange(ui.canvas_, true)) {
  ImGui::PushClipRect(box.min, box.max, true);
}

Ui::Canvas::~Canvas() {
  ImGui::PopClipRect();
  ui_.canvas_ = outside_;
}

// ---- what is known about a frame

Box Ui::clip() const { return {draw_list().GetClipRectMin(), draw_list().GetClipRectMax()}; }

void Ui::add(std::string_view path, const Box& box, std::string_view text, std::string_view state,
             bool interactive) {
  const Box seen = box.intersection(clip());
  const Rect visible = seen.empty() ? Rect() : Rect{seen.min.x, seen.min.y, seen.max.x, seen.max.y};
  registry_.add(path, visible, text, state, interactive);
  check_place(path, box, text);
}

void Ui::check_place(std::string_view path, const Box& box, std::string_view text) {
  if (canvas_ || ImGui::GetCurrentWindow()->Hidden) {  // a menu is hidden until it is measured
    return;
  }
  const Box seen = box.intersection(clip());
  if (box.width() - std::max(seen.width(), 0.0F) > kTolerance) {
    registry_.add_overflow({std::string(path), std::string(text), box.width(), seen.width()});
  } else if (!scrolls_ && box.height() - std::max(seen.height(), 0.0F) > kTolerance) {
    registry_.add_overflow({std::string(path), std::string(text), box.height(), seen.height()});
  }
}

void Ui::begin_frame() {
  const bool text = !active_.empty();
  focused_.begin_frame(keys_, text && several_lines_);
  if (text && !focused_.drawn().empty() && focused_.drawn() != active_) {
    ImGui::ClearActiveID();
  }
  registry_.publish("focus", focused_.drawn());
}

void Ui::focus(std::string_view path) {
  if (active_ != path && focus_ != path) {
    focus_ = path;
    keys_.hold();
  }
}

void Ui::publish(std::string_view id, std::string_view value) {
  registry_.publish(path_of(clean_line(id)), clean_line(value));
}

// ---- text

void Ui::text_in(std::string_view id, const Box& box, std::string_view text,
                 const TextStyle& style) {
  const std::string whole = clean_line(text);
  const std::string path = path_of(clean_line(id));
  if (id.empty()) {
    check_place(path, box, whole);
  } else {
    add(path, box, whole, {}, false);
  }
  if (box.intersection(clip()).empty()) {
    return;
  }
  ImFont& font = *fonts_[style.font];
  ImVec2 size = size_of(font, whole);
  std::string cut;
  const bool too_wide = size.x > box.width() + kTolerance;
  if (too_wide && style.elide) {
    cut = elided(font, whole, box.width());
    size.x = size_of(font, cut).x;
    if (box.contains(ImGui::GetMousePos()) &&
        ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem)) {
      tooltip(whole);
    }
  } else if (too_wide) {
    registry_.add_overflow({path, whole, size.x, box.width()});
  }
  if (size.y > box.height() + kTolerance) {
    registry_.add_overflow({path, whole, size.y, box.height()});
  }
  const std::string& shown = too_wide && style.elide ? cut : whole;
  const float share = style.align == Align::left ? 0.0F : style.align == Align::right ? 1.0F : 0.5F;
  const ImVec2 at{std::floor(box.min.x + (box.width() - size.x) * share),
                  std::floor(box.min.y + (box.height() - size.y) / 2)};
  glyphs(font, font.FontSize, at, colour(style.colour), shown);
}

void Ui::text(std::string_view id, std::string_view text, const TextStyle& style) {
  const float left = ImGui::GetContentRegionAvail().x;
  const float needed = std::ceil(text_size(text, style.font).x);
  const bool whole_width = style.align != Align::left || (style.elide && needed > left);
  const float height = std::max(px(18), fonts_[style.font]->FontSize);
  text_in(id, place({whole_width ? left : needed, height}), text, style);
}

void Ui::paragraph(std::string_view id, std::string_view text, Colour colour) {
  const std::string lines = clean_lines(text);
  ImFont& font = *fonts_[FontKind::regular];
  const float width = std::max(ImGui::GetContentRegionAvail().x, 1.0F);
  const Box box = place({width, size_of(font, lines, width).y});
  add(path_of(clean_line(id)), box, lines, {}, false);
  glyphs(font, font.FontSize, box.min, this->colour(colour), lines, width);
}

void Ui::prepare_vector_frame(bool vector) {
  keeps_texts_ = vector;
  if (vector) {
    texts_.clear();
  }
  ImGuiStyle& style = ImGui::GetStyle();
  style.AntiAliasedLines = style.AntiAliasedLinesUseTex = style.AntiAliasedFill = !vector;
}

void Ui::glyphs(ImFont& font, float size, ImVec2 at, ImU32 colour, std::string_view text,
                float wrap) {
  const char* end = text.data() + text.size();
  draw_list().AddText(&font, size, at, colour, text.data(), end, wrap);
  if (!keeps_texts_) {
    return;
  }
  std::string lines;
  for (const char* line = text.data(); wrap > 0 && line < end;) {
    const char* stop = font.CalcWordWrapPositionA(size / font.FontSize, line, end, wrap);
    const char* newline = std::find(line, stop, '\n');
    lines.append(line, newline).push_back('\n');
    line = newline == stop && stop > line ? stop : newline + 1;
    while (line < end && *line == ' ') {
      ++line;
    }
  }
  texts_.push_back({at, clip(), &font, size, colour, wrap > 0 ? lines : std::string(text)});
}

void Ui::tooltip(std::string_view text) {
  if (text.empty()) {
    return;
  }
  const std::string lines = clean_lines(text);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(px(8), px(5)));
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(px(480));
  ImGui::TextUnformatted(lines.data(), lines.data() + lines.size());
  ImGui::PopTextWrapPos();
  registry_.add("tooltip", {}, lines, {}, false);
  ImGui::EndTooltip();
  ImGui::PopStyleVar();
}

// ---- canvas items

Hit Ui::hit(std::string_view id, const Box& box, std::string_view text, std::string_view state) {
  const std::string path = path_of(clean_line(id));
  add(path, box, clean_line(text), state, true);
  return pointer_.hit(std::hash<std::string_view>()(path), box.intersection(clip()));
}

void Ui::stop_at_panel(const Box& box) {
  if (focused_.stop(path_, popups_.size(), true)) {
    draw_ring(box);
  }
}

/// Above what is drawn into the box afterwards.
void Ui::draw_ring(const Box& box) const {
  const Box seen = box.intersection(clip());
  ImDrawList& over = *ImGui::GetForegroundDrawList();
  over.AddRect(seen.min, seen.max, colour(Colour::accent), px(3), ImDrawFlags_None, px(2));
}

Hit Ui::control(std::string_view id, const Box& box, std::string_view text,
                std::string_view state) {
  const std::string path = path_of(clean_line(id));
  const bool focused = state != "disabled" && focused_.stop(path, popups_.size());
  const std::string states = std::string(state) + (state.empty() ? "" : " ") + "focused";
  Hit hit = this->hit(id, box, text, focused ? std::string_view(states) : state);
  if (hit.clicked) {
    focused_.note(path, popups_.size());
  }
  if (focused) {
    if (focused_.arrived(path)) {
      ImGui::ScrollToBringRectIntoView(ImGui::GetCurrentWindow(), ImRect(box.min, box.max));
    }
    hit.clicked = keys_.take("Enter") || keys_.take("Space") || hit.clicked;
    draw_ring(box);
  }
  return hit;
}

// ---- places

Box Ui::place(ImVec2 size) const {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::Dummy(size);
  return {at, {at.x + size.x, at.y + size.y}};
}

Box Ui::rest() const {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 left = ImGui::GetContentRegionAvail();
  return {at, {at.x + std::max(left.x, 0.0F), at.y + std::max(left.y, 0.0F)}};
}

void Ui::fill(const Box& box, ImU32 colour, float rounding) const {
  draw_list().AddRectFilled(box.min, box.max, colour, rounding);
}

void Ui::cover(const Box& box, ImU32 colour) const {
  ImGui::GetForegroundDrawList()->AddRectFilled(box.min, box.max, colour);
}

void Ui::frame(const Box& box, ImU32 colour, float rounding, float thickness) const {
  draw_list().AddRect(box.min, box.max, colour, rounding, ImDrawFlags_None, thickness);
}

}  // namespace reprise::debugger
