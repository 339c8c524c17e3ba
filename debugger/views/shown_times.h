// Which times the panels show, and what they show without any.
#pragma once
#include "debugger/model/document.h"
#include "debugger/model/sql_text.h"
#include "debugger/model/workspace.h"
#include "debugger/ui/ui.h"

namespace reprise::debugger {

/// For the SQL of panels: of the chosen range, or of another one.
SqlTimes shown_times(const Document& document);
SqlTimes shown_times(const Document& document, std::optional<ReplayRange> range);

/// One line at the cursor that says how node times are had.
void draw_no_times(Ui& ui);

}  // namespace reprise::debugger
