// NodeCall: a node as its op is asked about it.
#pragma once
#include <array>

#include "framework/core/op.h"
#include "framework/graph/schedule.h"

namespace reprise {

/// A node with its operands bound to the graph's storages. Valid while the graph is unchanged, and
/// what else it was made from.
class NodeCall {
 public:
  NodeCall(const ComputeGraph& graph, std::uint32_t node)
      : NodeCall(graph, node, {graph, graph.nodes[node]}) {}
  /// What runs in place of the node.
  NodeCall(const ComputeGraph& graph, std::uint32_t node, const ScheduledCall& scheduled);
  const BoundCall& call() const { return call_; }

 private:
  static constexpr std::size_t kMaxTensors = 12;
  std::array<BoundTensor, kMaxTensors> tensors_{};
  BoundCall call_;
};

}  // namespace reprise
