#include "debugger/views/graph_minimap.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace reprise::debugger {
namespace {

constexpr float kWidth = 132, kHeight = 180, kMinimapMargin = 12, kPadding = 6;
constexpr float kMaxStretch = 12;  // of one axis against the other: decoders are long

/// Where the world lies in the minimap.
struct Map {
  SceneRect world;
  ImVec2 origin;
  float x = 1, y = 1;  // pixels per world unit
  Box to_screen(const SceneRect& rect) const {
    return {{origin.x + (rect.min.x - world.min.x) * x, origin.y + (rect.min.y - world.min.y) * y},
            {origin.x + (rect.max.x - world.min.x) * x, origin.y + (rect.max.y - world.min.y) * y}};
  }
};

Map map_of(const SceneRect& world, ImVec2 max) {
  const float width = world.max.x - world.min.x, height = world.max.y - world.min.y;
  Map map{world, {}, max.x / width, max.y / height};
  const float common = std::min(map.x, map.y);
  map.x = std::min(map.x, common * kMaxStretch);
  map.y = std::min(map.y, common * kMaxStretch);
  return map;
}

/// From the lower right one on.
std::array<Box, 4> corners(const Box& viewport, ImVec2 size, float margin) {
  const float left = viewport.min.x + margin, right = viewport.max.x - margin - size.x;
  const float top = viewport.min.y + margin, bottom = viewport.max.y - margin - size.y;
  const auto at = [&](float x, float y) { return Box{{x, y}, {x + size.x, y + size.y}}; };
  return {at(right, bottom), at(right, top), at(left, bottom), at(left, top)};
}

}  // namespace

void GraphMinimap::draw(Ui& ui, GraphCamera& camera, const GraphScene& scene,
                        std::span<const ImU32> colours, std::span<const std::uint32_t> visible) {
  // Where there is little room it would cover what it is a map of.
  if (camera.visible().contains(scene.bounds) || camera.viewport().width() < ui.px(240)) {
    return;
  }
  const Box& viewport = camera.viewport();
  const ImVec2 max{std::min(ui.px(kWidth), viewport.width() / 6),
                   std::min(ui.px(kHeight), viewport.height() / 2)};
  Map map = map_of(scene.bounds, max);
  const float pad = ui.px(kPadding);
  const ImVec2 size{std::ceil((scene.bounds.max.x - scene.bounds.min.x) * map.x) + 2 * pad,
                    std::ceil((scene.bounds.max.y - scene.bounds.min.y) * map.y) + 2 * pad};
  const auto free = [&](const Box& corner) {
    return std::ranges::all_of(visible, [&](std::uint32_t box) {
      return corner.intersection(camera.to_screen(scene.boxes[box].rect)).empty();
    });
  };
  const std::array<Box, 4> all = corners(viewport, size, ui.px(kMinimapMargin));
  const auto found = std::ranges::find_if(all, free);
  const std::optional<Box> place = held_                ? held_
                                   : found == all.end() ? std::nullopt
                                                        : std::optional(*found);
  if (!place) {
    return;
  }
  const Box outer = *place;
  map.origin = {outer.min.x + pad, outer.min.y + pad};
  const Hit hit = ui.hit("minimap", outer, "Overview");
  held_ = hit.held ? place : std::nullopt;
  ui.fill(outer, ui.colour(Colour::panel, 0.94F), ui.px(4));
  ui.frame(outer, ui.colour(Colour::separator), ui.px(4));

  // Boxes follow each other downwards: many share the pixels of the one before.
  std::optional<Box> last;
  for (std::size_t b = 0; b < scene.boxes.size(); ++b) {
    Box box = map.to_screen(scene.boxes[b].rect);
    box.min = {std::floor(box.min.x), std::floor(box.min.y)};
    box.max = {std::max(std::ceil(box.max.x), box.min.x + 1),
               std::max(std::ceil(box.max.y), box.min.y + 1)};
    const bool hidden = last && last->min.x == box.min.x && last->min.y == box.min.y &&
                        colours[b] == colours[b - 1];
    if (!hidden) {
      ui.fill(box, colours[b]);
    }
    last = box;
  }

  Box seen = map.to_screen(camera.visible()).intersection(outer);
  if (!seen.empty()) {
    ui.fill(seen, ui.colour(Colour::text, 0.07F), ui.px(2));
    ui.frame(seen, ui.colour(Colour::text, 0.65F), ui.px(2));
  }
  if (hit.held) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    camera.look_at({std::clamp(scene.bounds.min.x + (mouse.x - map.origin.x) / map.x,
                               scene.bounds.min.x, scene.bounds.max.x),
                    std::clamp(scene.bounds.min.y + (mouse.y - map.origin.y) / map.y,
                               scene.bounds.min.y, scene.bounds.max.y)});
  }
}

}  // namespace reprise::debugger
