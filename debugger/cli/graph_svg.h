// A graph as a picture: the layout of the debugger, on white.
#pragma once
#include <ostream>

#include "debugger/cli/captured.h"

namespace reprise::cli {

/// Every node with its op, label, result and, if there are step times, how long it took, which
/// also colours it; scopes around them; data as lines, order as dashed ones. An <svg> element,
/// without the declaration of a file.
void write_graph_svg(const Captured& captured, std::ostream& out);

}  // namespace reprise::cli
