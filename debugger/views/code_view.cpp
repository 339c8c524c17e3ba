#include "debugger/views/code_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace reprise::debugger {
namespace {

constexpr float kLine = 18, kPad = 6;  // at 1x

constexpr std::array<std::string_view, 34> kGlslWords = {
    "bool",   "break",  "buffer", "const", "continue", "else",      "false",  "float", "for",
    "highp",  "if",     "in",     "inout", "int",      "ivec2",     "layout", "out",   "readonly",
    "return", "shared", "struct", "true",  "uint",     "uniform",   "uvec2",  "uvec3", "uvec4",
    "vec2",   "vec3",   "vec4",   "void",  "while",    "writeonly", "ivec4"};

struct Piece {
  std::size_t begin = 0, end = 0;
  Colour colour = Colour::text;
};

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
         c == '#' || c == '%';
}

Colour colour_of(std::string_view word, CodeLanguage language) {
  const char first = word.front();
  if (language == CodeLanguage::spirv) {
    return word.starts_with("Op") ? Colour::accent : first == '%' ? Colour::text : Colour::dim;
  }
  if (first == '#') {
    return Colour::sampling;
  }
  if (first >= '0' && first <= '9') {
    return Colour::warning;
  }
  const bool known = std::find(kGlslWords.begin(), kGlslWords.end(), word) != kGlslWords.end();
  return known ? Colour::accent : Colour::text;
}

/// The whole line, in pieces of one colour each.
std::vector<Piece> pieces_of(std::string_view line, CodeLanguage language) {
  const std::string_view comment = language == CodeLanguage::glsl ? "//" : ";";
  const std::size_t code = std::min(line.find(comment), line.size());
  std::vector<Piece> pieces;
  const auto add = [&](std::size_t begin, std::size_t end, Colour colour) {
    if (!pieces.empty() && pieces.back().colour == colour) {
      pieces.back().end = end;
    } else if (end > begin) {
      pieces.push_back({begin, end, colour});
    }
  };
  for (std::size_t at = 0; at < code;) {
    std::size_t end = at + 1;
    if (is_word(line[at])) {
      while (end < code && is_word(line[end])) {
        ++end;
      }
      add(at, end, colour_of(line.substr(at, end - at), language));
    } else {
      const Colour mark = language == CodeLanguage::glsl ? Colour::text : Colour::dim;
      add(at, end, line[at] == ' ' && !pieces.empty() ? pieces.back().colour : mark);
    }
    at = end;
  }
  add(code, line.size(), Colour::dim);
  return pieces;
}

void draw_line(Ui& ui, const Box& box, std::string_view line, CodeLanguage language) {
  constexpr FontKind kMono = FontKind::mono;
  const std::vector<Piece> pieces = pieces_of(line, language);
  if (ui.text_size(line, kMono).x > box.width()) {  // cut, with all of it in a tooltip
    const Colour colour = pieces.size() == 1 ? pieces.front().colour : Colour::text;
    ui.text_in("", box, line, {.font = kMono, .colour = colour});
    return;
  }
  for (const Piece& piece : pieces) {
    const std::string_view text = line.substr(piece.begin, piece.end - piece.begin);
    const float left = box.min.x + ui.text_size(line.substr(0, piece.begin), kMono).x;
    const float width = std::ceil(ui.text_size(text, kMono).x) + 1;
    ui.text_in("", {{left, box.min.y}, {left + width, box.max.y}}, text,
               {.font = kMono, .colour = piece.colour});
  }
}

}  // namespace

void draw_code(Ui& ui, std::string_view id, const Box& box, std::span<const std::string> lines,
               const CodeLook& look) {
  ImGui::SetCursorScreenPos(box.min);
  const auto own = ui.scope(id);
  const auto region = ui.region("line", {box.width(), box.height()});
  const float height = ui.px(kLine), pad = ui.px(kPad);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const Box seen{ui.draw_list().GetClipRectMin(), ui.draw_list().GetClipRectMax()};
  const float total = static_cast<float>(lines.size()) * height;
  ImGui::Dummy({1, total});
  if (look.scroll_to) {
    const float top = static_cast<float>(*look.scroll_to) * height;
    if (top < ImGui::GetScrollY() || top + height > ImGui::GetScrollY() + box.height()) {
      ImGui::SetScrollY(std::max(top - box.height() / 2, 0.0F));
    }
  }
  const float bar = total > box.height() ? ImGui::GetStyle().ScrollbarSize : 0;
  const float number = ui.text_size(std::to_string(lines.size()), FontKind::mono).x + 2 * pad;
  const auto first = static_cast<std::size_t>(std::max(seen.min.y - origin.y, 0.0F) / height);
  const auto last = static_cast<std::size_t>(std::max(seen.max.y - origin.y, 0.0F) / height) + 1;
  const auto canvas = ui.canvas(seen);
  for (std::size_t l = first; l < std::min(last, lines.size()); ++l) {
    const float top = origin.y + static_cast<float>(l) * height;
    const Box row{{box.min.x, top}, {box.max.x - bar, top + height}};
    const bool match = std::binary_search(look.matches.begin(), look.matches.end(), l);
    const bool shown = match && look.shown_match == l;
    ui.hit(std::to_string(l + 1), row, lines[l], shown ? "match shown" : match ? "match" : "");
    if (match) {
      ui.fill(row, ui.colour(shown ? Colour::selection : Colour::raised));
    }
    ui.text_in("", {row.min, {row.min.x + number - pad, row.max.y}}, std::to_string(l + 1),
               {.font = FontKind::mono, .colour = Colour::dim, .align = Align::right});
    draw_line(ui, {{row.min.x + number + pad, row.min.y}, {row.max.x - pad, row.max.y}}, lines[l],
              look.language);
  }
}

}  // namespace reprise::debugger
