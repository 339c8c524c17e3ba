// The plan of a pass that is recorded, without running it.
#pragma once
#include <string>

#include "framework/graph/make_plan.h"
#include "framework/session/executor/executor_core.h"
#include "framework/session/record/graph_capture.h"
#include "framework/session/replay/pass_plan.h"
#include "reprise/session/graph_session.h"

namespace reprise {

/// Takes the graph out of a capture and plans it.
PassPlan plan_graph(GraphCapture& capture, const DeviceTraits& traits, const PlanOptions& options);
/// What a recorded session would make a graph of. Nothing of it runs, nothing is allocated.
/// `outcome`: what the database calls that.
PassPlan plan_pass(const std::shared_ptr<ExecutorCore>& core, const RecordFunction& pass,
                   SessionOptions session, const PlanOptions& options = {},
                   const std::string& outcome = "dry");
/// The same of a session that was recorded already.
PassPlan plan_session(GraphSession& recorded, const PlanOptions& options,
                      const std::string& outcome);

}  // namespace reprise
