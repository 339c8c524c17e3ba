// What a recorded session leaves behind: the graph as recorded, its plan, and its state fields.
#pragma once
#include "reprise/graph/execution_plan.h"
#include "reprise/graph/state_layout.h"

namespace reprise {

/// Immutable once made; shared by the captured graph and the profiling database's writer.
struct RecordedGraph {
  ComputeGraph graph;
  ExecutionPlan plan;
  std::vector<StateFieldInfo> state_fields;  // and arrays after them; empty without a state block
};

}  // namespace reprise
