// What the colours of the graph stand for, in a corner of it.
#pragma once
#include "debugger/views/graph_painter.h"

namespace reprise::debugger {

/// Paths: no_values, if there is nothing to colour by; legend; note.
void draw_graph_legend(Ui& ui, const Box& bar, const GraphLook& look, const GraphPainter& painter);

}  // namespace reprise::debugger
