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
  ui.end_menu();
}

bool TabArea::show(std::string_view id) {
  for (std::size_t i = 0; i < panels_.size(); ++i) {
    if (panels_[i]->id() == id) {
      active_ = i;
      return true;
    }
  }
  return false;
}

void TabArea::draw(Ui& ui, Workspace& workspace, const Box& box, PanelRequests& requests) {
  const float height = ui.px(30);
  const Box bar{box.min, {box.max.x, box.min.y + height}};
  ui.fill(bar, ui.colour(Colour::header));
  float x = bar.min.x;
  struct Mark {
    std::optional<PanelBadge> badge;
    float width = 0;
  };
  const auto mark_of = [&](Panel& panel) {
    Mark mark{workspace.document.capture() ? panel.badge(workspace) : std::nullopt};
    mark.width = mark.badge ? ui.text_size(mark.badge->text, FontKind::mono).x + ui.px(10) : 0;
    return mark;
  };
  // Where they do not fit, all are narrower and their titles are cut.
  const auto wished = [&](Panel& panel) {
    return ui.text_size(panel.title(), FontKind::semibold).x + ui.px(28) + mark_of(panel).width;
  };
  float all = 0;
  for (const std::unique_ptr<Panel>& panel : panels_) {
    all += wished(*panel);
  }
  const float room = std::max(menu_button(ui, bar).min.x - bar.min.x, 0.0F);
  const float share = std::min(1.0F, room / all);
  for (std::size_t i = 0; i < panels_.size(); ++i) {
    Panel& panel = *panels_[i];
    const FontKind font = i == active_ ? FontKind::semibold : FontKind::regular;
    const auto [badge, mark] = mark_of(panel);
    const float width = wished(panel) * share;
    const Box tab{{x, bar.min.y}, {x + width, bar.max.y}};
    const Ui::Scope scope = ui.scope("tab");
    const Hit hit = ui.hit(panel.id(), tab, panel.title(), i == active_ ? "selected" : "");
    if (hit.clicked) {
      active_ = i;
    }
    if (i == active_) {
      ui.fill(tab, ui.colour(Colour::panel));
      ui.fill({{tab.min.x, tab.min.y}, {tab.max.x, tab.min.y + ui.px(2)}},
              ui.colour(Colour::accent));
    }
    if (badge) {
      const Ui::Scope of_panel = ui.scope(panel.id());
      const float end = tab.max.x - ui.px(10);
      ui.text_in("badge", {{end - mark + ui.px(2), tab.min.y}, {end, tab.max.y}}, badge->text,
                 {.font = FontKind::mono, .colour = badge->colour, .elide = false});
    }
    ui.text_in("", {tab.min, {tab.max.x - mark, tab.max.y}}, panel.title(),
               {.font = font,
                .colour = i == active_ || hit.hovered ? Colour::text : Colour::dim,
                .align = Align::centre,
                .elide = share < 1});
    x += width;
  }
  const Box content{{box.min.x, bar.max.y}, box.max};
  draw_panel_menu(ui, workspace, active(), menu_button(ui, bar), content, requests);
  ui.fill(content, ui.colour(Colour::panel));
  draw_panel(ui, workspace, active(), content);
}

}  // namespace reprise::debugger
