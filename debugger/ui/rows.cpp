#include "debugger/ui/rows.h"

#include <algorithm>

namespace reprise::debugger {
namespace {
constexpr float kNameWidth = 96;  // at 1x
}

Rows::Rows(Ui& ui, float margin) : ui_(ui), width_(std::max(ui.rest().width() - margin, 1.0F)) {}

Box Rows::next(float height) {
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const ImVec2 size{width_, height == 0 ? ui_.row_height() : height};
  ImGui::Dummy(size);
  ImGui::SetCursorScreenPos({from.x, from.y + size.y});  // without ImGui's spacing
  return {from, {from.x + size.x, from.y + size.y}};
}

bool link(Ui& ui, std::string_view id, const Box& box, std::string_view text,
          const TextStyle& style) {
  const Hit hit = ui.control(id, box, text);
  if (hit.hovered) {
    ui.fill(box, ui.colour(Colour::raised), ui.px(3));
  }
  const float pad = ui.px(4);
  ui.text_in("", {{box.min.x + pad, box.min.y}, {box.max.x - pad, box.max.y}}, text, style);
  return hit.clicked;
}

void heading(Ui& ui, Rows& rows, std::string_view title) {
  rows.gap(8);
  const Box box = rows.next();
  ui.fill({box.min, {box.max.x, box.min.y + 1}}, ui.colour(Colour::separator));
  ui.text_in("", box, title, {.font = FontKind::semibold});
}

void named_value(Ui& ui, Rows& rows, std::string_view id, std::string_view name,
                 std::string_view value, const TextStyle& style) {
  const Box box = rows.next();
  const float split = box.min.x + ui.px(kNameWidth);
  ui.text_in("", {box.min, {split - ui.px(4), box.max.y}}, name, {.colour = Colour::dim});
  ui.text_in(id, {{split, box.min.y}, box.max}, value, style);
}

}  // namespace reprise::debugger
