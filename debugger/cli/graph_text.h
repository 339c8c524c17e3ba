// A graph as a text that Graphviz draws.
#pragma once
#include <string>

#include "debugger/cli/captured.h"

namespace reprise::cli {

/// Nodes in boxes of their scopes, edges by the tensor that flows; edges that only keep order are
/// dashed. Names are escaped.
std::string dot_text(const Captured& captured);

}  // namespace reprise::cli
