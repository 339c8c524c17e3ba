// ExecutionPlan: the steps that a recording encodes, with their memory and the barriers between
// them.
#pragma once
#include "reprise/backend/step.h"
#include "reprise/graph/compute_graph.h"
#include "reprise/graph/passes.h"

namespace reprise {

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

/// A decision of a pass: something it did, or did not do and why.
struct PassDecision {
  std::string_view pass;          // "dead_nodes"
  std::string_view kind;          // "removed"
  std::uint32_t node = kNoIndex;  // as recorded; kNoIndex: the whole graph
  bool applied = false;
  std::string reason{};
};

/// A call that runs instead of several recorded nodes, in the place of one of them.
struct FusedCall {
  const OpDef* op = nullptr;
  std::vector<Use> uses;  // as those of a node
  std::vector<std::byte> attributes;
  std::vector<std::uint32_t> members;  // recorded nodes, in order
};

/// Keys: the node that the call replaces.
using FusedCalls = std::map<std::uint32_t, FusedCall>;

enum class HazardKind : std::uint8_t { raw, war, waw };
/// Returns "RAW", "WAR", "WAW".
std::string_view name_of(HazardKind kind);

struct Range {
  std::uint32_t buffer = 0;
  std::uint64_t begin = 0, end = 0;
};

struct Barrier {
  std::uint32_t before_step = 0, cause_src = 0;
  Range range;  // of the access that had to wait
  HazardKind kind = HazardKind::raw;
};

/// A plan.
/// Lifetime: immutable once made; shared by recordings and the writer of the profiling database.
struct ExecutionPlan {
  static constexpr std::uint32_t kArena = 0;
  std::shared_ptr<const ComputeGraph> graph;  // what was recorded
  StepList steps;                             // bindings name pools
  std::vector<Barrier> barriers;              // ranges name pools
  std::vector<Pool> pools;
  std::vector<Place> places;  // one per storage of the graph
  ReuseRule reuse = ReuseRule::epoch;
  PassOptions passes;
  std::vector<PassDecision> decisions;  // in the order of the passes
  FusedCalls fused;                     // steps of one name the node it runs in place of
  /// The rank of each recorded node, the same for all of a fused call; kNoIndex: a pass removed it.
  std::vector<std::uint32_t> ranks;
  std::uint64_t arena_bytes = 0;
  std::uint64_t live_peak_bytes = 0;  // no plan can be smaller
  std::uint64_t naive_bytes = 0;      // without reuse
};

}  // namespace reprise
