// What a direct session encoded, as the plan of a recording: the profiling database knows no other
// form. Its arena is one pool, in which the chunks lie behind each other.
#include <algorithm>
#include <numeric>

#include "framework/graph/make_plan.h"
#include "framework/session/record/direct_run.h"

namespace reprise {
namespace {

/// First and last step of the nodes that use each storage. Inputs live from the first step on,
/// inputs and outputs to the end.
void find_lifetimes(ExecutionPlan& plan) {
  const ComputeGraph& graph = *plan.graph;
  const auto end = static_cast<std::uint32_t>(plan.steps.size());
  for (std::uint32_t s = 0; s < end; ++s) {
    for (const Use& use : graph.uses_of(graph.nodes[plan.steps[s].node])) {
      Place& place = plan.places[graph.tensors[use.tensor].storage];
      place.first_step = std::min(place.first_step, s);
      place.last_step = s;
    }
  }
  for (std::size_t i = 0; i < graph.storages.size() && end != 0; ++i) {
    const Storage& storage = graph.storages[i];
    Place& place = plan.places[i];
    if (storage.input || storage.output) {
      place.first_step = storage.input ? 0 : std::min(place.first_step, end);
      place.last_step = end;
    }
  }
}

}  // namespace

std::pair<std::shared_ptr<const ExecutionPlan>, std::vector<std::shared_ptr<Buffer>>>
DirectRun::take_plan(GraphCapture& capture, const DirectArena& arena) {
  auto plan = std::make_shared<ExecutionPlan>();
  auto graph = std::make_shared<const ComputeGraph>(std::move(capture.graph()));
  capture.graph().name = graph->name;  // what is left only names things in messages
  std::vector<std::shared_ptr<Buffer>> buffers{arena.only_chunk()};
  plan->graph = graph;
  plan->pools.push_back({"arena"});
  plan->places.resize(graph->storages.size());
  homes_.resize(graph->storages.size());
  std::vector<Place> moved(pools_.size());  // where each pool of the run is in the plan
  for (std::uint32_t i = 0; i < graph->storages.size(); ++i) {
    const Home& home = homes_[i];
    Place at{ExecutionPlan::kArena};
    if (graph->storages[i].is_persistent()) {
      const bool state =
          graph->state_tensor != kNoIndex && graph->tensors[graph->state_tensor].storage == i;
      at.pool = static_cast<std::uint32_t>(plan->pools.size());
      plan->pools.push_back({state ? "state" : "buffer", graph->storages[i].bytes, i});
      buffers.push_back(capture.buffer_of(i));
    } else {
      at.offset = home.pool == kUnplaced ? 0 : arena.base_of(home.range.chunk);
      plan->arena_bytes = std::max(plan->arena_bytes, at.offset + home.range.end);
    }
    if (home.pool != kUnplaced) {
      moved[home.pool] = at;
    }
    plan->places[i] = {at.pool, at.offset + home.offset};
  }
  plan->pools[ExecutionPlan::kArena].bytes = plan->arena_bytes;
  plan->steps = std::move(steps_);
  for (Binding& binding : plan->steps.bindings()) {
    if (binding.bytes != 0) {
      const Place& to = moved[binding.pool];
      binding.pool = to.pool;
      binding.offset += to.offset;
    }
  }
  plan->barriers = tracker_.barriers();
  for (Barrier& barrier : plan->barriers) {
    const Place& to = moved[barrier.range.buffer];
    barrier.range = {to.pool, barrier.range.begin + to.offset, barrier.range.end + to.offset};
  }
  plan->ranks.resize(graph->nodes.size());
  std::iota(plan->ranks.begin(), plan->ranks.end(), 0U);
  find_lifetimes(*plan);
  add_up_transients(*plan);
  return {std::move(plan), std::move(buffers)};
}

}  // namespace reprise
