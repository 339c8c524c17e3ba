// What a recorded session leaves behind: the graph as recorded, and its plan.
#pragma once
#include "reprise/graph/execution_plan.h"

namespace reprise {

/// Immutable once made; shared by the captured graph and the profiling database's writer.
struct RecordedGraph {
  ComputeGraph graph;
  ExecutionPlan plan;
};

}  // namespace reprise
