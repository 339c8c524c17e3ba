// PassPlan: a recorded pass that recordings are made of.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "framework/session/state/iteration_rows.h"
#include "reprise/core/host_step.h"
#include "reprise/graph/execution_plan.h"
#include "reprise/session/finish_report.h"

namespace reprise {

/// The experts of a layer that a pass asked for.
struct ExpertCall {
  std::string layer;
  std::int64_t rows = 0, used = 0;
  bool counts_rows = false;                 // `rows` is the bucket of an extent
  std::vector<std::uint32_t> host_steps{};  // nodes
  std::vector<std::uint32_t> stops{};       // nodes that may stop an iteration, with a function
  bool moves = false;                       // a function moves experts
};

/// An op that chose experts, or a layer of experts with ids from elsewhere.
struct RouterCall {
  std::string name;  // of the layer, else the scope
  std::int64_t rows = 0, used = 0;
  bool counts_rows = false;  // `rows` is the bucket of an extent
};

/// Immutable once made; any number of recordings share it.
struct PassPlan {
  std::shared_ptr<const ExecutionPlan> execution;
  std::vector<std::shared_ptr<Buffer>> given;       // by pool: the caller's; null: of a recording
  std::map<std::uint32_t, HostFunction> functions;  // by node
  std::vector<ExpertCall> expert_calls{};
  std::vector<RouterCall> routers{};  // of executable graphs that may be asked for routes
  IterationRows rows{};               // over no memory
  FinishReport report{};
  std::uint64_t session = 0;  // that recorded it, in the profiling database; 0: none

  const ComputeGraph& graph() const { return *execution->graph; }
};

}  // namespace reprise
