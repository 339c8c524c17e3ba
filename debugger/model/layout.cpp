#include "debugger/model/layout.h"

#include <algorithm>
#include <set>
#include <utility>

#include "debugger/model/usual_places.h"

namespace reprise::debugger {
namespace {

Place tabs(std::vector<std::string> panels, std::string front) {
  return {.panels = std::move(panels), .front = std::move(front), .parts = {}};
}

Place divided(Place first, Place second, bool beside, std::size_t sized, float size) {
  return {.panels = {},
          .front = {},
          .parts = {std::move(first), std::move(second)},
          .beside = beside,
          .sized = sized,
          .size = size};
}

struct Sizes {
  float left = 400, right = 380, bottom = 230;
};

Place usual_tabs(std::string_view part, std::string front) {
  Place place = tabs({}, std::move(front));
  for (const UsualPlace& usual : usual_places()) {
    if (usual.part == part) {
      place.panels.emplace_back(usual.panel);
    }
  }
  return place;
}

/// Three columns over a row.
Layout usual(std::string name, std::string left, std::string right, std::string bottom,
             const Sizes& sizes) {
  Place middle = divided(usual_tabs("middle", "graph"), usual_tabs("right", std::move(right)), true,
                         1, sizes.right);
  Place columns =
      divided(usual_tabs("left", std::move(left)), std::move(middle), true, 0, sizes.left);
  return {std::move(name), divided(std::move(columns), usual_tabs("bottom", std::move(bottom)),
                                   false, 1, sizes.bottom)};
}

template <class P, class Visit>
void for_each_tabs(P& place, const Visit& visit) {
  if (place.parts.empty()) {
    visit(place);
  }
  for (auto& part : place.parts) {
    for_each_tabs(part, visit);
  }
}

bool has(const Place& place, std::string_view panel) {
  return std::ranges::find(place.panels, panel) != place.panels.end();
}

template <class P>
P* find(P& all, std::string_view panel) {
  P* found = nullptr;
  for_each_tabs(all, [&](P& place) { found = has(place, panel) ? &place : found; });
  return found;
}

/// Takes a panel out of the tabs of a place; a neighbour is in front then.
void take_out(Place& place, std::string_view panel) {
  const auto at = std::ranges::find(place.panels, panel);
  const auto next = place.panels.erase(at);
  if (place.front == panel && !place.panels.empty()) {
    place.front = next == place.panels.end() ? place.panels.back() : *next;
  }
}

bool empty(const Place& place) { return place.panels.empty() && place.parts.empty(); }

/// Parts without panels go; the other part is in their place.
void remove_empty(Place& place) {
  for (Place& part : place.parts) {
    remove_empty(part);
  }
  const auto gone = std::ranges::find_if(place.parts, empty);
  if (gone != place.parts.end()) {
    Place other = std::move(place.parts[gone == place.parts.begin() ? 1 : 0]);
    place = std::move(other);
  }
}

/// How many places lie beside, or above, each other.
float count_along(const Place& place, bool beside) {
  if (place.parts.empty()) {
    return 1;
  }
  const float first = count_along(place.parts[0], beside);
  const float second = count_along(place.parts[1], beside);
  return place.beside == beside ? first + second : std::max(first, second);
}

float least_size(const Place& divided) { return divided.beside ? 120 : 60; }

}  // namespace

bool is_layout_name(std::string_view name) {
  const auto visible = [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 127; };
  return !name.empty() && name.size() <= 40 && std::ranges::all_of(name, visible) &&
         name.find_first_not_of(' ') != std::string_view::npos;
}

std::vector<Layout> usual_layouts() {
  return {usual("Inspect", "outline", "inspector", "timeline", {}),
          usual("Performance", "nodes", "inspector", "statistics", {520, 340, 300}),
          usual("Numerics", "nodes", "tensors", "numerics", {400, 440, 260}),
          usual("Memory", "outline", "inspector", "memory", {320, 340, 430})};
}

std::vector<const Place*> tab_places(const Place& all) {
  std::vector<const Place*> places;
  for_each_tabs(all, [&](const Place& place) { places.push_back(&place); });
  return places;
}

const Place* place_of(const Place& all, std::string_view panel) { return find(all, panel); }

float fitted_size(const Place& divided, float room) {
  const float min = least_size(divided);
  const float own = count_along(divided.parts[divided.sized], divided.beside);
  const float others = count_along(divided.parts[1 - divided.sized], divided.beside);
  // Each of the others keeps twice the least; where there is no room for that, all are alike.
  const float max = std::max(room * own / (own + others), room - others * 2 * min);
  return std::clamp(divided.size, std::min(own * min, max), max);
}

bool has_room(const Place& divided, float room) { return room >= 2 * least_size(divided); }

Place joined(const Place& place, std::string_view latest) {
  const Place* main = &place;
  while (!main->parts.empty()) {
    main = &main->parts[1 - main->sized];
  }
  Place one = tabs({}, main->front);
  for_each_tabs(place, [&](const Place& part) {
    one.panels.insert(one.panels.end(), part.panels.begin(), part.panels.end());
  });
  one.front = !place.parts.empty() && has(one, latest) ? std::string(latest) : one.front;
  return one;
}

void show(Place& all, std::string_view panel) {
  Place* place = find(all, panel);
  if (place == nullptr) {
    const Layout usual = usual_layouts().front();
    const Place* const together = place_of(usual.all, panel);
    for (const std::string& neighbour : together ? together->panels : std::vector<std::string>()) {
      place = place == nullptr ? find(all, neighbour) : place;
    }
    for (place = place == nullptr ? &all : place; !place->parts.empty();) {
      place = &place->parts.front();
    }
    place->panels.emplace_back(panel);
  }
  place->front = panel;
}

void close(Place& all, std::string_view panel) {
  Place* const place = find(all, panel);
  if (place != nullptr && (!all.parts.empty() || all.panels.size() > 1)) {
    take_out(*place, panel);
    remove_empty(all);
  }
}

void move(Place& all, std::string_view panel, const Drop& to) {
  const std::string moved(panel);
  Place* const from = find(all, moved);
  Place* const target = find(all, to.onto);
  if (from == nullptr || target == nullptr || (from == target && from->panels.size() == 1)) {
    return;
  }
  std::size_t tab = to.tab;
  if (from == target && !to.side) {
    const auto at =
        static_cast<std::size_t>(std::ranges::find(from->panels, moved) - from->panels.begin());
    tab -= tab > at ? 1 : 0;
  }
  take_out(*from, moved);
  if (to.side) {
    const bool first = *to.side == Side::left || *to.side == Side::above;
    const bool beside = *to.side == Side::left || *to.side == Side::right;
    Place added = tabs({moved}, moved);
    Place there = std::move(*target);
    *target = first ? divided(std::move(added), std::move(there), beside, 0, to.size)
                    : divided(std::move(there), std::move(added), beside, 1, to.size);
  } else {
    tab = std::min(tab, target->panels.size());
    target->panels.insert(target->panels.begin() + static_cast<std::ptrdiff_t>(tab), moved);
    target->front = moved;
  }
  remove_empty(all);
}

bool mend(Place& all) {
  std::set<std::string> left;
  for (const Layout usual = usual_layouts().front(); const Place* place : tab_places(usual.all)) {
    left.insert(place->panels.begin(), place->panels.end());
  }
  for_each_tabs(all, [&](Place& place) {
    std::erase_if(place.panels, [&](const std::string& panel) { return left.erase(panel) == 0; });
    if (!place.panels.empty() && !has(place, place.front)) {
      place.front = place.panels.front();
    }
  });
  remove_empty(all);
  return !empty(all);
}

}  // namespace reprise::debugger
