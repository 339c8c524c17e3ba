#include "debugger/views/key_sheet.h"

#include <algorithm>

namespace reprise::debugger {
namespace {

void draw_group(Ui& ui, const ActionGroup& group) {
  const std::string title = group.title.empty() ? "Everywhere" : group.title;
  const Ui::Scope scope = ui.scope(title);
  ui.text("title", title, {.font = FontKind::semibold, .colour = Colour::accent});
  const float keys = ui.px(130);
  for (std::size_t i = 0; i < group.actions.size(); ++i) {
    const Action& action = group.actions[i];
    if (action.key.empty()) {
      continue;
    }
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const Box box{at, {ui.rest().max.x, at.y + ui.px(20)}};
    ImGui::Dummy({box.width(), box.height()});
    ui.text_in(std::to_string(i), {box.min, {box.min.x + keys, box.max.y}}, action.key,
               {.font = FontKind::mono});
    ui.text_in({}, {{box.min.x + keys, box.min.y}, box.max}, action.title);
  }
  ImGui::Dummy({0, ui.px(10)});
}

/// With title and gap; 0 if it has no keys.
std::size_t lines_of(const ActionGroup& group) {
  const auto keys = static_cast<std::size_t>(
      std::ranges::count_if(group.actions, [](const Action& a) { return !a.key.empty(); }));
  return keys == 0 ? 0 : keys + 2;
}

}  // namespace

void KeySheet::draw(Ui& ui, const std::vector<ActionGroup>& groups) {
  if (!ui.begin_dialog("keys", open_, {ui.px(840), ui.px(620)})) {
    return;
  }
  std::size_t lines = 0;
  for (const ActionGroup& group : groups) {
    lines += lines_of(group);
  }
  const Box box = ui.rest();
  const ImVec2 size{(box.width() - ui.px(20)) / 2, box.height()};
  std::size_t group = 0, drawn = 0;
  for (const bool right : {false, true}) {
    ImGui::SetCursorScreenPos({right ? box.max.x - size.x : box.min.x, box.min.y});
    const Ui::Region column = ui.region(right ? "right" : "left", size);
    for (; group < groups.size() && (right || drawn * 2 < lines); ++group) {
      drawn += lines_of(groups[group]);
      if (lines_of(groups[group]) > 0) {
        draw_group(ui, groups[group]);
      }
    }
  }
  ui.end_dialog(open_);
}

}  // namespace reprise::debugger
