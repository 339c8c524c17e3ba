// Asks whether a source file that lies below no source folder may be shown.
#pragma once
#include <string>

#include "debugger/model/workspace.h"
#include "debugger/ui/ui.h"

namespace reprise::debugger {

/// At the cursor, for a name whose file is `outside`. Paths: source-outside, source-allow. Returns
/// true when the user agreed just now: what workspace.sources found for the name before is gone.
bool draw_source_question(Ui& ui, Workspace& workspace, const std::string& name);

}  // namespace reprise::debugger
