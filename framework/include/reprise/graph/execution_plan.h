// ExecutionPlan: what a recording encodes. Steps with their memory, and the barriers between them.
#pragma once
#include "reprise/core/step.h"
#include "reprise/graph/compute_graph.h"
#include "reprise/graph/hazards.h"
#include "reprise/graph/memory_plan.h"
#include "reprise/graph/passes.h"

namespace reprise {

enum class ReuseRule : std::uint8_t {
  step,   // a range is free after its last reader: smallest arena, reuse may add barriers
  epoch,  // free after the barrier that follows its last reader: never adds a barrier
};

/// A buffer that every recording of the plan brings. Pool 0 is the arena; the others are those of
/// persistent storages. Different pools are different buffers.
struct Pool {
  std::string_view kind;  // "arena", "buffer", "state"
  std::uint64_t bytes = 0;
  std::uint32_t storage = kNoIndex;  // of the graph; none: the arena
};

/// Where a storage of the graph lives.
struct Place {
  std::uint32_t pool = 0;
  std::uint64_t offset = 0;
  std::uint32_t first_step = kNoIndex, last_step = kNoIndex;  // kNoIndex: no step uses it
};

struct PlanOptions {
  ReuseRule reuse = ReuseRule::epoch;
  PassOptions passes{};
  FusionRules fusions{};  // what nodes are fused by
};

/// Lifetime: immutable once made; shared by recordings and the writer of the profiling database.
struct ExecutionPlan {
  static constexpr std::uint32_t kArena = 0;
  std::shared_ptr<const ComputeGraph> graph;  // what was recorded
  StepList steps;                             // bindings name pools
  std::vector<Barrier> barriers;              // ranges name pools
  std::vector<Pool> pools;
  std::vector<Place> places;  // one per storage of the graph
  PlanOptions options;
  std::vector<PassDecision> decisions;  // in the order of the passes
  FusedCalls fused;                     // steps of one name the node it runs in place of
  /// When each recorded node runs, all of a fused call at once; kNoIndex: a pass removed it.
  std::vector<std::uint32_t> ranks;
  std::uint64_t arena_bytes = 0;
  std::uint64_t live_peak_bytes = 0;  // no plan can be smaller
  std::uint64_t naive_bytes = 0;      // without reuse
};

/// Runs the passes, lowers the nodes they leave, places transients into one arena by lifetime, then
/// places barriers.
ExecutionPlan make_plan(std::shared_ptr<const ComputeGraph> graph, const DeviceTraits& traits,
                        const PlanOptions& options = {});

/// The recorded nodes that run, in that order; members of a fused call as they were recorded.
std::vector<std::uint32_t> running_order(const ExecutionPlan& plan);

/// The ranges a step reads and writes, by Binding::pool.
void touches_of(const StepList& steps, const Step& step, std::vector<Touch>& out);

}  // namespace reprise
