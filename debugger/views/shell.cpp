#include "debugger/views/shell.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "debugger/views/header_bar.h"
#include "debugger/views/menu_bar.h"
#include "debugger/views/panel_list.h"
#include "debugger/views/replay_strip_panel.h"
#include "debugger/views/selection_actions.h"
#include "framework/core/known_names.h"
#include "reprise/core/error.h"

namespace reprise::debugger {
namespace {

constexpr float kMinPlaces = 120;  // a lower window leaves the strip away, at 1x

}  // namespace

Shell::Shell() : strip_(std::make_unique<ReplayStripPanel>()), panels_(make_panels()) {}

std::vector<Panel*> Shell::panels() {
  std::vector<Panel*> all{strip_.get()};
  for (const std::unique_ptr<Panel>& panel : panels_) {
    all.push_back(panel.get());
  }
  return all;
}

std::vector<Panel*> Shell::panels_in_sight() {
  if (!alone_.empty()) {
    return {find(alone_)};
  }
  std::vector<Panel*> seen{strip_.get()};
  for (const std::string& front : in_places_.fronts()) {
    seen.push_back(find(front));
  }
  return seen;
}

Panel* Shell::find(std::string_view panel) {
  const std::vector<Panel*> all = panels();
  const auto found = std::ranges::find(all, panel, &Panel::id);
  return found == all.end() ? nullptr : *found;
}

void Shell::show(std::string_view panel, bool alone) {
  if (find(panel) == nullptr) {
    throw_invalid_argument("There is no panel (", panel, "); there are ",
                           names_of(panels(), &Panel::id), ".");
  }
  if (panel != strip_->id()) {
    debugger::show(places(), panel);
    latest_ = panel;
  }
  alone_ = alone ? panel : "";
}

std::optional<PictureRequest> Shell::take_picture_request() {
  return std::exchange(picture_, std::nullopt);
}

// ---- layouts

void Shell::set_layouts(std::vector<Layout> layouts, std::size_t chosen) {
  layouts_ = std::move(layouts);
  choose_layout(chosen);
}

void Shell::choose_layout(std::size_t layout) {
  layout_ = layout;
  alone_.clear();
  latest_.clear();
}

void Shell::add_layouts(Actions& actions) {
  for (std::size_t i = 0; i < layouts_.size(); ++i) {
    actions.push_back({"Layout " + layouts_[i].name,
                       i < 9 ? "Ctrl+Alt+" + std::to_string(i + 1) : "",
                       [this, i] { choose_layout(i); }});
  }
  actions.push_back({"New layout from this one...", "", [this] { layout_dialog_.open(); },
                     layouts_.size() < kMaxLayouts});
  const std::string& name = layouts_[layout_].name;
  const std::vector<Layout> usual = usual_layouts();
  if (layout_ < usual.size()) {
    actions.push_back({"Reset layout " + name, "",
                       [this, as_it_comes = usual[layout_].all] { places() = as_it_comes; }});
  } else {
    actions.push_back({"Delete layout " + name, "", [this] {
                         layouts_.erase(layouts_.begin() + static_cast<std::ptrdiff_t>(layout_));
                         choose_layout(0);
                       }});
  }
}

void Shell::add_moves(Actions& actions) {
  const Place* const place = alone_.empty() ? place_of(places(), hovered_) : nullptr;
  const std::string name = place == nullptr ? "the panel" : std::string(find(hovered_)->title());
  const bool among_others = place != nullptr && place->panels.size() > 1;
  const auto go = [this](const Drop& to) { return [this, to] { move(places(), hovered_, to); }; };
  constexpr float kSize = 300;
  for (const auto& [title, side] :
       {std::pair("left of the others", Side::left), std::pair("right of the others", Side::right),
        std::pair("above the others", Side::above), std::pair("below the others", Side::below)}) {
    actions.push_back({"Move " + name + " " + title, "",
                       go({.onto = hovered_, .side = side, .tab = 0, .size = kSize}),
                       among_others});
  }
  const std::vector<const Place*> all = tab_places(places());
  const auto at = std::ranges::find(all, place);
  const Place* const next = at == all.end() || at + 1 == all.end() ? all.front() : *(at + 1);
  actions.push_back({"Move " + name + " to the next place", "",
                     go({.onto = next->front, .side = {}, .tab = next->panels.size()}),
                     place != nullptr && next != place});
  actions.push_back({"Close " + name, "Ctrl+W", [this] { requests_.close = hovered_; },
                     among_others || (place != nullptr && all.size() > 1)});
}

// ---- what can be asked for

namespace {

constexpr Gesture kGo[] = {{"Ctrl+1 to Ctrl+9", "Go to a bookmark, in the order they were set"}};

}  // namespace

Actions Shell::file_actions() {
  return {{"Export the panel as CSV", "Ctrl+E", [this] { requests_.csv = hovered_; },
           !hovered_.empty()},
          {"Picture of the window", "Ctrl+Shift+S", [this] {
             const ImVec2 size = ImGui::GetIO().DisplaySize;
             requests_.picture = {"debugger.png", {{0, 0}, size}};
           }}};
}

Actions Shell::view_actions(Workspace& workspace) {
  Actions actions{{workspace.light ? "Dark theme" : "Light theme", "Ctrl+Shift+L",
                   [&] { workspace.light = !workspace.light; }},
                  {"Maximise or restore the panel", "F11",
                   [this] { requests_.maximise = alone_.empty() ? hovered_ : alone_; },
                   !alone_.empty() || !hovered_.empty()}};
  add_layouts(actions);
  add_moves(actions);
  return actions;
}

Actions Shell::go_actions(Ui& ui, Workspace& workspace) {
  Actions actions{
      {"Back", "Alt+Left", [&] { workspace.back(); }, workspace.selection.can_go_back()},
      {"Forward", "Alt+Right", [&] { workspace.forward(); }, workspace.selection.can_go_forward()},
      {"Filter the nodes", "Ctrl+F",
       [&] {
         show("nodes", false);
         ui.focus("nodes/filter");
       }},
      {"Bookmark the selection, or remove its mark", "Ctrl+B",
       [&] { workspace.toggle_bookmark(); }}};
  add_bookmarks(workspace, actions);
  std::ranges::move(numerics_.actions(), std::back_inserter(actions));
  return actions;
}

void Shell::add_bookmarks(Workspace& workspace, Actions& actions) {
  constexpr std::size_t kWithKeys = 9;
  const std::vector<Selection> places =
      workspace.bookmarks.of(workspace.document.capture()->summary.id);
  for (std::size_t i = 0; i < places.size(); ++i) {
    actions.push_back(
        {"Go to bookmark " + std::to_string(i + 1) + ", " + place_name(workspace, places[i]),
         i < kWithKeys ? "Ctrl+" + std::to_string(i + 1) : "",
         [&workspace, place = places[i]] { workspace.select(place); }});
  }
}

void Shell::add_actions_by(std::function<void(ActionGroups&)> add) {
  add_actions_ = std::move(add);
}

ActionGroup Shell::panel_actions(Workspace& workspace, Panel& panel, bool in_sight) {
  ActionGroup group{std::string(panel.title()), {}, Menu::view, panel.gestures()};
  if (&panel == strip_.get()) {
    group.menu = Menu::go;
  } else {
    group.actions.push_back({"Show the panel", "", [&] { show(panel.id(), false); }});
  }
  for (Action& action : panel.actions(workspace)) {
    if (!in_sight) {
      action.run = [this, &panel, run = std::move(action.run)] {
        show(panel.id(), false);
        run();
      };
    }
    group.actions.push_back(std::move(action));
  }
  return group;
}

ActionGroups Shell::actions(Ui& ui, Workspace& workspace) {
  ActionGroups groups{{"", file_actions(), Menu::file}, {"", view_actions(workspace), Menu::view}};
  if (workspace.document.capture()) {
    groups.push_back({"", go_actions(ui, workspace), Menu::go, kGo});
    groups.push_back({"Selection", selection_actions(workspace), Menu::go});
    std::vector<Panel*> seen = panels_in_sight();
    for (const Panel* panel : seen) {
      const std::string id(panel->id());
      hovered_ = ui.focused() == id || ui.focused().starts_with(id + "/") ? id : hovered_;
    }
    // Keys that several panels have, as Up and Down, are of the one that has the focus, or else of
    // the one under the mouse.
    std::stable_partition(seen.begin(), seen.end(),
                          [&](const Panel* panel) { return panel->id() == hovered_; });
    for (Panel* panel : seen) {
      groups.push_back(panel_actions(workspace, *panel, true));
    }
  }
  groups.push_back(commands_.help());
  add_actions_(groups);
  return groups;
}

ActionGroups Shell::hidden_actions(Workspace& workspace) {
  ActionGroups groups;
  if (!workspace.document.capture()) {
    return groups;
  }
  const std::vector<Panel*> seen = panels_in_sight();
  for (Panel* panel : panels()) {
    if (std::ranges::find(seen, panel) == seen.end()) {
      groups.push_back(panel_actions(workspace, *panel, false));
    }
  }
  return groups;
}

void Shell::export_csv(Workspace& workspace, std::string_view panel) {
  workspace.exports.ask(workspace.reads,
                        {find(panel)->sql(workspace), free_name(std::string(panel) + ".csv")});
}

// ---- drawing

void Shell::draw(Ui& ui, Workspace& workspace) {
  workspace.reads.begin_frame();
  if (ImGui::IsMouseClicked(0)) {
    workspace.notice.clear();
  }
  picture_ = std::exchange(requests_.picture, std::nullopt);
  const Box all = ui.rest();
  const float header = ui.px(38);
  const float status = ui.px(24);
  const Box bar{all.min, {all.max.x, all.min.y + header}};
  ui.fill(bar, ui.colour(Colour::header));
  const float menus = bar.min.x + ui.px(4) + menu_bar_width(ui);
  draw_header_bar(ui, workspace, {{menus, bar.min.y}, bar.max});
  draw_body(ui, workspace, {{all.min.x, all.min.y + header}, {all.max.x, all.max.y - status}});
  numerics_.go_on(workspace);  // says what it found below
  draw_status_bar(ui, workspace, {{all.min.x, all.max.y - status}, all.max});
  commands_.draw(ui, {{bar.min.x + ui.px(4), bar.min.y}, {menus, bar.max.y}},
                 actions(ui, workspace), [&] { return hidden_actions(workspace); });
  if (std::optional<std::string> name = layout_dialog_.draw(ui, layouts_)) {
    layouts_.push_back({*std::move(name), places()});
    choose_layout(layouts_.size() - 1);
  }
  if (!workspace.wanted_panel.empty()) {
    show(std::exchange(workspace.wanted_panel, {}), false);
  }
  if (requests_.show) {
    show(*std::exchange(requests_.show, {}), false);
  }
  if (requests_.close) {
    alone_.clear();
    debugger::close(places(), *std::exchange(requests_.close, {}));
  }
  if (requests_.maximise) {
    alone_ = *requests_.maximise == alone_ ? "" : *requests_.maximise;
    requests_.maximise.reset();
  }
  if (requests_.csv) {
    export_csv(workspace, *std::exchange(requests_.csv, {}));
  }
  ui.prepare_vector_frame(requests_.picture && requests_.picture->file.ends_with(".svg"));
}

void Shell::draw_alone(Ui& ui, Workspace& workspace, Panel& panel, const Box& box) {
  const Box bar{box.min, {box.max.x, box.min.y + ui.px(30)}};
  const Box content{{box.min.x, bar.max.y}, box.max};
  ui.text_in("alone", {{bar.min.x + ui.px(14), bar.min.y}, bar.max}, panel.title(),
             {.font = FontKind::semibold});
  ui.fill(content, ui.colour(Colour::panel));
  draw_panel_menu(ui, workspace, panel, menu_button(ui, bar), content, requests_);
  draw_panel(ui, workspace, panel, content);
}

void Shell::draw_body(Ui& ui, Workspace& workspace, const Box& box) {
  if (!workspace.document.capture()) {
    const Ui::Scope scope = ui.scope("body");
    ImGui::SetCursorScreenPos(box.min);
    const Ui::Region region = ui.region("empty", {box.width(), box.height()}, false);
    draw_no_capture(ui, workspace);
    return;
  }
  if (!alone_.empty()) {
    draw_alone(ui, workspace, *find(alone_), box);
    return;
  }
  const float bar = ui.px(5);
  const float strip_height = ui.px(56);
  const bool low = box.height() < strip_height + bar + ui.px(kMinPlaces);
  const Box strip{box.min, {box.max.x, box.min.y + (low ? 0 : strip_height)}};
  if (!low) {
    const float menu = ui.px(26);
    draw_panel(ui, workspace, *strip_, {strip.min, {strip.max.x - menu, strip.max.y}});
    draw_panel_menu(ui, workspace, *strip_,
                    {{strip.max.x - menu, strip.min.y + ui.px(4)}, strip.max}, strip, requests_);
  }
  const Box body{{box.min.x, strip.max.y + (low ? 0 : bar)}, box.max};
  in_places_.draw(
      ui, workspace, places(), latest_, [this](std::string_view id) -> Panel& { return *find(id); },
      body, requests_);
  const std::string_view under =
      strip.contains(ImGui::GetMousePos()) ? strip_->id() : in_places_.hovered();
  if (!under.empty() && !ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup)) {  // a menu lies over
    hovered_ = under;                                                         // panels
  }
}

}  // namespace reprise::debugger
