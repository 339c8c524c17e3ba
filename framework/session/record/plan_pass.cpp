#include "framework/session/record/plan_pass.h"

#include <algorithm>
#include <iterator>

#include "framework/session/record/expert_tensors.h"
#include "framework/session/record/recorded_session.h"

namespace reprise {

PassPlan plan_graph(GraphCapture& capture, const DeviceTraits& traits, const PlanOptions& options) {
  PassPlan plan;
  auto graph = std::make_shared<const ComputeGraph>(std::move(capture.graph()));
  capture.graph().name = graph->name;  // what is left only names things in messages
  auto execution = std::make_shared<ExecutionPlan>(make_plan(graph, traits, options));
  for (const Pool& pool : execution->pools) {
    const bool caller =
        pool.storage != kNoIndex && graph->storages[pool.storage].origin == StorageOrigin::caller;
    plan.given.push_back(caller ? capture.buffer_of(pool.storage) : nullptr);
  }
  plan.execution = std::move(execution);
  plan.functions = std::move(capture.functions());
  return plan;
}

PassPlan plan_pass(const std::shared_ptr<ExecutorCore>& core, const RecordFunction& pass,
                   SessionOptions session, const PlanOptions& options, const std::string& outcome) {
  std::ranges::move(unbacked_experts(session.experts), std::back_inserter(session.tensors));
  GraphSession recorded(std::make_unique<RecordedSession>(core, std::move(session)));
  pass(recorded);
  return plan_session(recorded, options, outcome);
}

PassPlan plan_session(GraphSession& recorded, const PlanOptions& options,
                      const std::string& outcome) {
  PassPlan plan;
  recorded.in_session("plan", [&](Session& inner) {
    plan = dynamic_cast<RecordedSession&>(inner).plan(recorded, options, outcome);
  });
  return plan;
}

}  // namespace reprise
