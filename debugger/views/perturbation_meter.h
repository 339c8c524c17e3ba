// What the timing of nodes costs, in one line of the header; hovering tells where the number is
// from.
#pragma once
#include "debugger/model/workspace.h"
#include "debugger/ui/ui.h"

namespace reprise::debugger {

/// Asks for it when the capture is another one, or has twice as many replays.
float perturbation_width(Ui& ui, Workspace& workspace);
/// Path: perturbation.
void draw_perturbation_meter(Ui& ui, Workspace& workspace, const Box& box);

}  // namespace reprise::debugger
