// How long the debugger takes to lay out the graph of a capture with everything unfolded.
#pragma once
#include "framework/profile/capture_reader.h"

namespace reprise::bench {

/// Milliseconds, medians.
struct LayoutTimes {
  std::size_t boxes = 0, edges = 0;
  double scope_tree_ms = 0, fold_ms = 0, layout_ms = 0;
};

LayoutTimes measure_layout(const Capture& capture);

}  // namespace reprise::bench
