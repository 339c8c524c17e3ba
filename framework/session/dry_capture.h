// DryCapture: what a recorded session would have made a graph of. Nothing of it runs and nothing is
// allocated for it.
#pragma once
#include "framework/session/iteration_rows.h"
#include "reprise/session/graph_executor.h"

namespace reprise {

struct DryCapture {
  std::shared_ptr<const RecordedGraph> recorded;
  IterationRows rows{};  // of sessions with extents; these have memory
  FinishReport report{};
  std::uint64_t profile_session = 0;

  static DryCapture of(GraphExecutor& executor, const RecordFunction& pass, SessionOptions session);
};

}  // namespace reprise
