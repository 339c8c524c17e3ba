// PassPlan: a recorded pass that recordings are made of.
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "framework/session/graph_capture.h"
#include "framework/session/iteration_rows.h"
#include "reprise/graph/execution_plan.h"
#include "reprise/session/graph_executor.h"

namespace reprise {

/// Immutable once made; any number of recordings share it.
struct PassPlan {
  std::shared_ptr<const ExecutionPlan> execution;
  std::vector<std::shared_ptr<Buffer>> given;       // by pool: the caller's; null: of a recording
  std::map<std::uint32_t, HostFunction> functions;  // by node
  std::vector<ExpertCall> expert_calls{};
  IterationRows rows{};  // over no memory
  FinishReport report{};
  std::uint64_t session = 0;  // that recorded it, in the profiling database; 0: none

  const ComputeGraph& graph() const { return *execution->graph; }

  /// Takes the graph out of a capture and plans it.
  static PassPlan of(GraphCapture& capture, const DeviceTraits& traits, const PlanOptions& options);
  /// What a recorded session would make a graph of. Nothing of it runs, nothing is allocated.
  /// `outcome`: what the database calls that.
  static PassPlan of(GraphExecutor& executor, const RecordFunction& pass, SessionOptions session,
                     const std::string& outcome = "dry");
  /// The same of a session that was recorded already.
  static PassPlan of(GraphSession& recorded, const PlanOptions& options,
                     const std::string& outcome);
};

}  // namespace reprise
