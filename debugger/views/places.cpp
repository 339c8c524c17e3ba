#include "debugger/views/places.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace reprise::debugger {
namespace {

/// A bar between two parts that can be dragged along x or y, or moved by the arrow keys while it
/// has the focus: how far, at 1x.
float splitter(Ui& ui, std::size_t number, const Box& bar, bool along_x) {
  constexpr float kKeyStep = 20;
  const Ui::Scope scope = ui.scope("splitter");
  const Hit hit = ui.control(std::to_string(number), bar);
  if (hit.hovered || hit.held) {
    ImGui::SetMouseCursor(along_x ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
    ui.fill(bar, ui.colour(Colour::accent));
  }
  float keys = 0;
  if (ui.focused() == "splitter/" + std::to_string(number)) {
    keys += ui.keys().take(along_x ? "Right" : "Down") ? kKeyStep : 0;
    keys -= ui.keys().take(along_x ? "Left" : "Up") ? kKeyStep : 0;
  }
  return (along_x ? hit.dragged.x : hit.dragged.y) / ui.scale() + keys;
}

/// A place where a tab can be dropped, and what it would cover there.
struct Target {
  Drop drop;
  Box covers;
};

/// Among the tabs: the one under the mouse goes to the right.
Target among_tabs(const TabArea& area, ImVec2 mouse) {
  const auto left_of = [&](const Box& tab) { return (tab.min.x + tab.max.x) / 2 < mouse.x; };
  const auto before = static_cast<std::size_t>(std::ranges::count_if(area.tabs, left_of));
  const float x = before == 0 ? area.bar.min.x : area.tabs[before - 1].max.x;
  return {{.onto = area.front, .side = {}, .tab = before},
          {{x - 2, area.bar.min.y}, {x + 2, area.bar.max.y}}};
}

/// A new place at a side, if the mouse is in the outer quarter there; else the last tab.
Target in_content(const TabArea& area, ImVec2 mouse, float scale) {
  const Box& box = area.content;
  struct Edge {
    Side side;
    float distance;  // as a share of the box
  };
  const float x = (mouse.x - box.min.x) / box.width();
  const float y = (mouse.y - box.min.y) / box.height();
  const std::array edges{Edge{Side::left, x}, Edge{Side::right, 1 - x}, Edge{Side::above, y},
                         Edge{Side::below, 1 - y}};
  const Edge nearest = *std::ranges::min_element(edges, {}, &Edge::distance);
  Target target{{.onto = area.front, .side = {}, .tab = area.tabs.size()}, box};
  if (nearest.distance > 0.25F) {
    return target;
  }
  const bool beside = nearest.side == Side::left || nearest.side == Side::right;
  target.drop.side = nearest.side;
  target.drop.size = (beside ? box.width() : box.height() + area.bar.height()) / 2 / scale;
  const ImVec2 middle{(box.min.x + box.max.x) / 2, (box.min.y + box.max.y) / 2};
  (nearest.side == Side::left    ? target.covers.max.x
   : nearest.side == Side::right ? target.covers.min.x
   : nearest.side == Side::above ? target.covers.max.y
                                 : target.covers.min.y) = beside ? middle.x : middle.y;
  return target;
}

}  // namespace

void Places::draw(Ui& ui, Workspace& workspace, Place& all, std::string_view latest,
                  const PanelOfId& panel, const Box& box, PanelRequests& requests) {
  latest_ = latest;
  hovered_.clear();
  areas_.clear();
  bars_ = 0;
  draw_place(ui, workspace, all, panel, box, requests);
  drag_tab(ui, all);
}

void Places::draw_place(Ui& ui, Workspace& workspace, Place& place, const PanelOfId& panel,
                        const Box& box, PanelRequests& requests) {
  const float room = (place.beside ? box.width() : box.height()) / ui.scale();
  if (place.parts.empty() || !has_room(place, room)) {
    const Place shown = joined(place, latest_);
    areas_.push_back(draw_tab_area(ui, workspace, shown, panel, box, requests));
    if (areas_.back().dragged && !given_up_) {
      dragged_ = *areas_.back().dragged;
    }
    hovered_ = box.contains(ImGui::GetMousePos()) ? shown.front : hovered_;
    return;
  }
  const float size = fitted_size(place, room);
  const float start = place.beside ? box.min.x : box.min.y;
  const float end = place.beside ? box.max.x : box.max.y;
  const float thick = ui.px(5);
  const float bar = place.sized == 0 ? start + ui.px(size) : end - ui.px(size) - thick;
  const auto part = [&](float from, float to) {
    return place.beside ? Box{{from, box.min.y}, {to, box.max.y}}
                        : Box{{box.min.x, from}, {box.max.x, to}};
  };
  // What is dragged starts where it is seen.
  if (const float moved = splitter(ui, bars_++, part(bar, bar + thick), place.beside); moved != 0) {
    place.size = std::max(size + (place.sized == 0 ? moved : -moved), 1.0F);
  }
  draw_place(ui, workspace, place.parts[0], panel, part(start, bar), requests);
  draw_place(ui, workspace, place.parts[1], panel, part(bar + thick, end), requests);
}

std::vector<std::string> Places::fronts() const {
  std::vector<std::string> fronts;
  std::ranges::transform(areas_, std::back_inserter(fronts), &TabArea::front);
  return fronts;
}

void Places::drag_tab(Ui& ui, Place& all) {
  const bool down = ImGui::GetIO().MouseDown[ImGuiMouseButton_Left];
  given_up_ = given_up_ && down;
  if (dragged_.empty()) {
    return;
  }
  const ImVec2 mouse = ImGui::GetMousePos();
  std::optional<Target> target;
  for (const TabArea& area : areas_) {
    if (area.bar.contains(mouse)) {
      target = among_tabs(area, mouse);
    } else if (area.content.contains(mouse)) {
      target = in_content(area, mouse, ui.scale());
    }
  }
  if (ui.keys().take("Escape")) {
    dragged_.clear();
    given_up_ = down;
    return;
  }
  ImGui::SetMouseCursor(target ? ImGuiMouseCursor_Hand : ImGuiMouseCursor_NotAllowed);
  if (target) {
    ui.cover(target->covers, ui.colour(Colour::accent, 0.4F));
  }
  if (!down) {
    const std::string panel = std::exchange(dragged_, {});
    if (target) {
      move(all, panel, target->drop);
    }
  }
}

}  // namespace reprise::debugger
