// The whole graph in a corner, with what is in sight.
#pragma once
#include <span>

#include "debugger/ui/ui.h"
#include "debugger/views/graph_camera.h"

namespace reprise::debugger {

/// Draws it into the lower right corner of the viewport, unless everything is in sight; pressing or
/// dragging on it moves the camera. `colours` are those of the boxes. Path: "minimap".
void draw_minimap(Ui& ui, GraphCamera& camera, const GraphScene& scene,
                  std::span<const ImU32> colours);

}  // namespace reprise::debugger
