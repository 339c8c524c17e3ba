// Fusing: what passes that make one call of several nodes share: calls as they stand in a schedule,
// and what may be in the way, whichever of them moves.
#pragma once
#include "framework/core/fusion.h"
#include "framework/core/op.h"
#include "framework/graph/node_call.h"
#include "framework/graph/schedule.h"

namespace reprise {

class Fusing {
 protected:
  Fusing(const ComputeGraph& graph, const DeviceTraits& traits, Schedule& schedule)
      : graph_(graph), traits_(traits), schedule_(schedule) {}

  ScheduledCall call_at(std::uint32_t node) const {
    return scheduled_call(graph_, schedule_.fused, node);
  }
  std::uint32_t storage_of(const Use& use) const { return graph_.tensors[use.tensor].storage; }
  /// Whether two tensors have bytes in common.
  bool overlap(const Use& a, const Use& b) const;
  NodeCall bound(std::uint32_t node, const ScheduledCall& call) const {
    return {graph_, node, call};
  }
  /// "matmul (3)"
  static std::string name_of(const ScheduledCall& call, std::uint32_t node);

  /// Why `moved` cannot run on the other side of what is between two places in the order.
  std::string nodes_between(std::size_t from, std::size_t to, const ScheduledCall& moved) const;
  /// Why the fused op does not take these tensors.
  std::string operands_of(const FusedCall& fused) const;
  /// Why the device has no kernel for the call: there may be limits that the schema does not name.
  std::string lowering_of(std::uint32_t node, const FusedCall& fused) const;

  /// What is recorded of nodes that may be fused themselves.
  std::vector<std::uint32_t> members_of(std::span<const std::uint32_t> nodes) const;

  const ComputeGraph& graph_;
  const DeviceTraits& traits_;
  Schedule& schedule_;
};

}  // namespace reprise
