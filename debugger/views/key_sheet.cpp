#include "debugger/views/key_sheet.h"

#include <algorithm>

namespace reprise::debugger {
namespace {

/// What is pressed on the left, what that does on the right, in as many lines as it needs.
void draw_row(Ui& ui, std::string_view id, std::string_view how, std::string_view does) {
  const Ui::Scope scope = ui.scope(id);
  const float keys = ui.px(150);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::SetCursorScreenPos({at.x + keys, at.y + ui.px(1)});
  ui.paragraph("does", does);
  ui.text_in("how", {at, {at.x + keys - ui.px(6), at.y + ui.px(20)}}, how,
             {.font = FontKind::mono});
  const ImVec2 end = ImGui::GetCursorScreenPos();
  ImGui::SetCursorScreenPos({at.x, std::max(end.y, at.y + ui.px(20))});
}

void draw_group(Ui& ui, const ActionGroup& group) {
  const std::string title = group.title.empty() ? std::string(name_of(group.menu)) : group.title;
  const Ui::Scope scope = ui.scope(title);
  ui.text("title", title, {.font = FontKind::semibold, .colour = Colour::accent});
  for (std::size_t i = 0; i < group.actions.size(); ++i) {
    const Action& action = group.actions[i];
    if (!action.key.empty()) {
      draw_row(ui, std::to_string(i), action.key, action.title);
    }
  }
  const Ui::Scope mouse = ui.scope("mouse");
  for (std::size_t i = 0; i < group.gestures.size(); ++i) {
    draw_row(ui, std::to_string(i), group.gestures[i].how, group.gestures[i].does);
  }
  ImGui::Dummy({0, ui.px(10)});
}

/// With title and gap; 0 if it has none.
std::size_t lines_of(const ActionGroup& group) {
  const auto keys = static_cast<std::size_t>(std::ranges::count_if(
                        group.actions, [](const Action& a) { return !a.key.empty(); })) +
                    group.gestures.size();
  return keys == 0 ? 0 : keys + 2;
}

/// Those of one title as one.
std::vector<ActionGroup> joined(const std::vector<ActionGroup>& groups) {
  std::vector<ActionGroup> all;
  for (const ActionGroup& group : groups) {
    const auto same = std::ranges::find_if(all, [&](const ActionGroup& other) {
      return other.title == group.title && other.menu == group.menu;
    });
    if (same == all.end()) {
      all.push_back(group);
      continue;
    }
    same->actions.insert(same->actions.end(), group.actions.begin(), group.actions.end());
    same->gestures = same->gestures.empty() ? group.gestures : same->gestures;
  }
  return all;
}

}  // namespace

void KeySheet::draw(Ui& ui, const std::vector<ActionGroup>& all) {
  if (!ui.begin_dialog("keys", open_, {ui.px(1000), ui.px(1000)})) {
    return;
  }
  const std::vector<ActionGroup> groups = joined(all);
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
