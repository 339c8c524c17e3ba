// The whole graph in a corner where it covers no box, with what is in sight.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "debugger/ui/ui.h"
#include "debugger/views/graph_camera.h"

namespace reprise::debugger {

class GraphMinimap {
 public:
  /// Draws it into the first free corner of the viewport from the lower right one on, unless
  /// everything is in sight or no corner is free; pressing or dragging on it moves the camera.
  /// `colours` are those of the boxes; `visible` are the boxes in sight. Path: "minimap".
  void draw(Ui& ui, GraphCamera& camera, const GraphScene& scene, std::span<const ImU32> colours,
            std::span<const std::uint32_t> visible);

 private:
  std::optional<Box> held_;  // where it is while it is dragged
};

}  // namespace reprise::debugger
