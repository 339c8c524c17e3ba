// Schedule: which nodes of a recorded graph run and in which order, which of them run as one, and
// what passes decided about them. The graph stays as it was recorded.
#pragma once
#include "reprise/graph/compute_graph.h"

namespace reprise {

/// One thing a pass did, or did not do and why.
struct PassDecision {
  std::string_view pass;          // "dead_nodes"
  std::string_view kind;          // "removed"
  std::uint32_t node = kNoIndex;  // as recorded; kNoIndex: the whole graph
  bool applied = false;
  std::string reason{};
};

/// What runs instead of several recorded nodes, in the place of one of them.
struct FusedCall {
  const OpDef* op = nullptr;
  std::vector<Use> uses;  // as those of a node
  std::vector<std::byte> attributes;
  std::vector<std::uint32_t> members;  // recorded nodes, in order
};

/// By the node it runs in place of.
using FusedCalls = std::map<std::uint32_t, FusedCall>;

struct Schedule {
  std::vector<std::uint32_t> order;  // recorded nodes; of a fused call the one it runs in place of
  FusedCalls fused;
  std::vector<PassDecision> decisions;
};

/// What runs in place of a node: its own call, or a fused one. Valid while both are unchanged.
struct ScheduledCall {
  ScheduledCall(const ComputeGraph& graph, const FusedCalls& fused, std::uint32_t node);
  const OpDef* op;
  std::span<const Use> uses;
  std::span<const std::byte> attributes;
};

/// All nodes, as they were recorded.
Schedule recorded_order(const ComputeGraph& graph);

}  // namespace reprise
