#include "debugger/views/menu_bar.h"

#include <algorithm>
#include <cmath>

namespace reprise::debugger {
namespace {

std::string path_of(Menu menu) {
  return id_of({.title = std::string(name_of(menu)), .key = {}, .run = {}});
}

void draw_entries(Ui& ui, const Actions& actions) {
  for (const Action& action : actions) {
    if (ui.menu_entry(id_of(action), action.title, action.key, action.enabled)) {
      action.run();
    }
  }
}

void draw_menu(Ui& ui, Menu menu, const std::vector<ActionGroup>& groups) {
  for (const ActionGroup& group : groups) {
    if (group.menu == menu && group.title.empty()) {
      draw_entries(ui, group.actions);
    }
  }
  std::vector<const ActionGroup*> of_panels;  // always in the same order
  for (const ActionGroup& group : groups) {
    if (group.menu == menu && !group.title.empty() && !group.actions.empty()) {
      of_panels.push_back(&group);
    }
  }
  const auto stands_here = [&](const ActionGroup& group) {
    return group.menu == menu && !group.actions.empty();
  };
  if (std::ranges::none_of(groups, stands_here)) {
    ui.menu_entry("none", "Nothing without a database", {}, false);
  }
  std::ranges::sort(of_panels, {}, &ActionGroup::title);
  for (const ActionGroup* group : of_panels) {
    if (ui.begin_submenu(group->title, group->title)) {
      draw_entries(ui, group->actions);
      ui.end_menu();
    }
  }
}

}  // namespace

float menu_bar_width(const Ui& ui) {
  float width = 0;
  for (const Menu menu : kMenus) {
    width += ui.menu_width(name_of(menu));
  }
  return width;
}

void draw_menu_bar(Ui& ui, const Box& box,
                   const std::function<std::vector<ActionGroup>()>& groups) {
  const Ui::Scope scope = ui.scope("menus");
  float x = box.min.x;
  for (std::size_t m = 0; m < kMenus.size(); ++m) {
    const Menu menu = kMenus[m];
    const auto beside = [&](std::size_t step) {
      return "menus/" + path_of(kMenus[(m + step) % kMenus.size()]);
    };
    const auto walk = [&](const std::function<void(const std::string&)>& go) {
      if (ui.keys().take("Right")) {
        go(beside(1));
      } else if (ui.keys().take("Left")) {
        go(beside(kMenus.size() - 1));
      }
    };
    if (ui.focused() == beside(0)) {
      walk([&](const std::string& path) { ui.go_to(path); });
      if (ui.keys().take("Down")) {
        ui.open_menu(beside(0));
      }
    }
    ImGui::SetCursorScreenPos({x, std::floor((box.min.y + box.max.y - ui.row_height()) / 2)});
    x += ui.menu_width(name_of(menu));
    if (ui.begin_menu(path_of(menu), name_of(menu), {})) {
      draw_menu(ui, menu, groups());
      walk([&](const std::string& path) { ui.open_menu(path); });
      ui.end_menu();
    }
  }
}

}  // namespace reprise::debugger
