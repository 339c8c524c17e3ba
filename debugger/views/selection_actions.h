// What can be asked of what is selected: copy it, show it elsewhere, find what is like it.
#pragma once
#include "debugger/model/workspace.h"
#include "debugger/views/action.h"

namespace reprise::debugger {

/// Valid until the next frame. There is a capture.
Actions selection_actions(Workspace& workspace);

/// Those that make sense for the selection, and its bookmark: for a menu.
Actions selection_menu(Workspace& workspace);

}  // namespace reprise::debugger
