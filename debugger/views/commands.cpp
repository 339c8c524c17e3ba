#include "debugger/views/commands.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "debugger/views/menu_bar.h"

namespace reprise::debugger {
namespace {

// What is the same in all panels.
constexpr Gesture kMouse[] = {
    {"Tab, Shift+Tab", "Next or previous button, input, tab or panel"},
    {"F6, Shift+F6", "Next or previous panel, whose keys count then"},
    {"Enter, Space", "Press the button that has the focus; Escape leaves it"},
    {"Up, Down", "Move in a menu that is open; Left and Right go to the next menu"},
    {"Arrow keys", "Move a bar between panels that has the focus"},
    {"Right click", "Menu of what is there: a node, scope, barrier, box, row or replay"},
    {"Click a heading", "Sort the table; again: the other way"},
    {"Drag its right end", "Width of the column; a double click takes that back"},
    {"Shift+wheel", "Move a table that is too wide"},
    {"Drag between panels", "Size of the parts of the window"},
    {"Drag a tab", "Move its panel: among other tabs, or to a side of another panel"},
    {"Drop a file", "Open it"},
};

}  // namespace

ActionGroup Commands::help() {
  return {"",
          {{"Command palette", "Ctrl+P", [this] { palette_.open(); }},
           {"Menu bar", "F10", [this] { to_menus_ = true; }},
           {"Keys and mouse", "F1", [this] { key_sheet_.open(); }, true, {"Shift+/"}}},
          Menu::help,
          kMouse};
}

void Commands::draw(Ui& ui, const Box& menu_bar, ActionGroups in_sight,
                    const std::function<ActionGroups()>& hidden) {
  const auto all = [&] {
    ActionGroups groups = in_sight;
    std::ranges::move(hidden(), std::back_inserter(groups));
    return groups;
  };
  if (std::exchange(to_menus_, false)) {
    ui.go_to("menus/file");
  }
  draw_menu_bar(ui, menu_bar, all);
  if (palette_.is_open() || key_sheet_.is_open()) {
    const ActionGroups groups = all();
    palette_.draw(ui, groups);
    key_sheet_.draw(ui, groups);
  }
  for (const ActionGroup& group : in_sight) {
    take_keys(ui, group.actions);
  }
}

}  // namespace reprise::debugger
