#include "debugger/views/tab_area.h"

#include <algorithm>

#include "debugger/ui/icons.h"

namespace reprise::debugger {

Box menu_button(const Ui& ui, const Box& bar) {
  const float side = ui.row_height();
  return {{bar.max.x - side - ui.px(4), bar.min.y + ui.px(4)}, bar.max};
}

void draw_panel_menu(Ui& ui, Workspace& workspace, const Panel& panel, const Box& button,
                     const Box& box, PanelRequests& requests) {
  const Ui::Scope scope = ui.scope("menu");
  const Ui::Scope of_panel = ui.scope(panel.id());
  ImGui::SetCursorScreenPos(button.min);
  if (!ui.begin_menu("open", icon::kMenu, "Panel menu")) {
    return;
  }
  if (ui.menu_entry("copy_sql", "Copy SQL")) {
    ImGui::SetClipboardText(panel.sql(workspace).c_str());
    workspace.notice = "Copied the query of " + std::string(panel.title());
  }
  const std::string id(panel.id());
  if (ui.menu_entry("csv", "Export CSV", "Ctrl+E")) {
    requests.csv = id;
  }
  for (const char* kind : {"png", "svg"}) {
    if (ui.menu_entry(kind, kind == std::string_view("png") ? "Export PNG" : "Export SVG")) {
      requests.picture = {id + "." + kind, box};
    }
  }
  if (ui.menu_entry("maximise", "Maximise or restore", "F11")) {
    requests.maximise = id;
  }
  if (ui.menu_entry("close", "Close", "Ctrl+W")) {
    requests.close = id;
  }
  ui.end_menu();
}

namespace {

/// What a tab shows beside the title, and how wide it would like to be.
struct Tab {
  Panel& panel;
  std::optional<PanelBadge> badge;
  float mark = 0;  // the width of the badge
  float width = 0;
};

Tab tab_of(Ui& ui, Workspace& workspace, Panel& panel) {
  Tab tab{panel, workspace.document.capture() ? panel.badge(workspace) : std::nullopt};
  tab.mark = tab.badge ? ui.text_size(tab.badge->text, FontKind::mono).x + ui.px(10) : 0;
  tab.width = ui.text_size(panel.title(), FontKind::semibold).x + ui.px(28) + tab.mark;
  return tab;
}

void draw_tab(Ui& ui, const Tab& tab, const Box& box, bool front, bool hovered, bool elide) {
  if (front) {
    ui.fill(box, ui.colour(Colour::panel));
    ui.fill({box.min, {box.max.x, box.min.y + ui.px(2)}}, ui.colour(Colour::accent));
  }
  // Where there is no room for a badge, the title has its colour.
  const bool badge_fits = tab.badge && box.width() >= tab.mark + ui.px(28);
  if (badge_fits) {
    const Ui::Scope of_panel = ui.scope(tab.panel.id());
    const float end = box.max.x - ui.px(10);
    ui.text_in("badge", {{end - tab.mark + ui.px(2), box.min.y}, {end, box.max.y}}, tab.badge->text,
               {.font = FontKind::mono, .colour = tab.badge->colour, .elide = false});
  }
  ui.text_in("", {box.min, {box.max.x - (badge_fits ? tab.mark : 0), box.max.y}}, tab.panel.title(),
             {.font = front ? FontKind::semibold : FontKind::regular,
              .colour = tab.badge && !badge_fits ? tab.badge->colour
                        : front || hovered       ? Colour::text
                                                 : Colour::dim,
              .align = Align::centre,
              .elide = elide});
}

}  // namespace

TabArea draw_tab_area(Ui& ui, Workspace& workspace, const Place& place, const PanelOfId& panel,
                      const Box& box, PanelRequests& requests) {
  const Box bar{box.min, {box.max.x, box.min.y + ui.px(30)}};
  TabArea area{place.front, bar, {{box.min.x, bar.max.y}, box.max}, {}, {}};
  ui.fill(bar, ui.colour(Colour::header));
  std::vector<Tab> tabs;
  float all = 0;
  for (const std::string& id : place.panels) {
    tabs.push_back(tab_of(ui, workspace, panel(id)));
    all += tabs.back().width;
  }
  // Where they do not fit, the one in front keeps its title, and those of the others are cut.
  const float room = std::max(menu_button(ui, bar).min.x - bar.min.x, 0.0F);
  const bool fit = all <= room;
  const float own = tab_of(ui, workspace, panel(place.front)).width;
  const float in_front = fit ? own : std::min(own, room / 2);
  const float share = fit ? 1 : (room - in_front) / std::max(all - own, 1.0F);
  float x = bar.min.x;
  for (const Tab& tab : tabs) {
    const bool front = tab.panel.id() == place.front;
    const Box at{{x, bar.min.y}, {x + (front ? in_front : tab.width * share), bar.max.y}};
    const Ui::Scope scope = ui.scope("tab");
    const Hit hit = ui.control(tab.panel.id(), at, tab.panel.title(), front ? "selected" : "");
    if (hit.clicked) {
      requests.show = tab.panel.id();
    }
    if (hit.dragged.x != 0 || hit.dragged.y != 0) {
      area.dragged = tab.panel.id();
    }
    draw_tab(ui, tab, at, front, hit.hovered, !fit);
    area.tabs.push_back(at);
    x = at.max.x;
  }
  Panel& front = panel(place.front);
  draw_panel_menu(ui, workspace, front, menu_button(ui, bar), area.content, requests);
  ui.fill(area.content, ui.colour(Colour::panel));
  draw_panel(ui, workspace, front, area.content);
  return area;
}

}  // namespace reprise::debugger
