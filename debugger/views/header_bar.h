// The header: which capture of which file, what its replays cost, whether it is being written.
#pragma once
#include "debugger/model/workspace.h"
#include "debugger/ui/ui.h"

namespace reprise::debugger {

void draw_header_bar(Ui& ui, Workspace& workspace, const Box& box);

/// Selection, range and notices on the left, the file on the right.
void draw_status_bar(Ui& ui, Workspace& workspace, const Box& box);

}  // namespace reprise::debugger
