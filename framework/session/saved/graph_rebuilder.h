// Records the rows of a file again.
#pragma once
#include "framework/graph/saved_graph.h"
#include "framework/session/executor/executor_core.h"
#include "framework/session/record/graph_capture.h"
#include "framework/session/state/iteration_rows.h"
#include "reprise/session/saved_graphs.h"

namespace reprise {

/// `rows`: made for this file, which may hold anything.
/// Errors: invalid_argument or unsupported for whatever no session could have recorded.
void rebuild_graph(GraphCapture& capture, ExecutorCore& core, const SavedGraph& saved,
                   const LoadOptions& options, const IterationRows& rows);

}  // namespace reprise
