// Folding with the keyboard, in every panel that shows the scopes: [ ] for the selection,
// Shift+[ ] for everything.
#pragma once
#include "debugger/model/workspace.h"
#include "debugger/views/action.h"

namespace reprise::debugger {

/// The item of the scope tree that is selected, or holds the selected node; 0, the root, without.
std::uint32_t selected_item(const Workspace& workspace);
Actions fold_actions(Workspace& workspace);

}  // namespace reprise::debugger
