// What the mouse over the graph is told.
#pragma once
#include <string>

#include "debugger/views/graph_painter.h"

namespace reprise::debugger {

/// `line` of the scene.
std::string line_tooltip(const GraphLook& look, std::uint32_t line);

/// What the box itself has no room for; empty if there is nothing.
std::string box_tooltip(const GraphLook& look, const GraphPainter& painter, std::uint32_t box,
                        ImVec2 mouse);

}  // namespace reprise::debugger
