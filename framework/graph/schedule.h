// Schedule: which nodes of a recorded graph run and in which order, which of them run as one, and
// what passes decided about them. The graph stays as it was recorded.
#pragma once
#include <algorithm>

#include "reprise/graph/execution_plan.h"

namespace reprise {

struct Schedule {
  std::vector<std::uint32_t> order;  // recorded nodes; of a fused call the one it runs in place of
  FusedCalls fused;
  std::vector<PassDecision> decisions;
};

/// What runs in place of a node: its own call, or a fused one. Valid while both are unchanged.
struct ScheduledCall {
  explicit ScheduledCall(const FusedCall& call)
      : op(call.op), uses(call.uses), attributes(call.attributes) {}
  ScheduledCall(const ComputeGraph& graph, const Node& node)
      : op(node.op), uses(graph.uses_of(node)), attributes(graph.attributes_of(node)) {}
  /// Null if there is no tensor at the slot.
  const Use* use_at(std::size_t slot) const {
    const auto it = std::ranges::find(uses, slot, &Use::slot);
    return it == uses.end() ? nullptr : &*it;
  }
  const OpDef* op;
  std::span<const Use> uses;
  std::span<const std::byte> attributes;
};
ScheduledCall scheduled_call(const ComputeGraph& graph, const FusedCalls& fused,
                             std::uint32_t node);

}  // namespace reprise
