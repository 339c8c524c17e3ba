// A capture as a page for a browser: one file that asks for nothing else.
#pragma once
#include <ostream>

#include "debugger/cli/captured.h"

namespace reprise::cli {

/// Facts of the run and the device, the times of nodes as a chart and a table, replays, the memory
/// plan, barriers, passes and the graph. Tables sort by the column that is clicked.
void write_html_page(const Captured& captured, const std::string& path, std::ostream& out);

}  // namespace reprise::cli
