// NodeCall: a node as its op is asked about it.
#pragma once
#include <array>

#include "framework/core/op.h"
#include "reprise/graph/compute_graph.h"

namespace reprise {

/// A node with its operands bound to the graph's storages. Valid while the graph is unchanged, and
/// what else it was made from.
class NodeCall {
 public:
  NodeCall(const ComputeGraph& graph, std::uint32_t node);
  /// A call in place of a node, with uses of its own.
  NodeCall(const ComputeGraph& graph, std::uint32_t node, const OpDef& op,
           std::span<const Use> uses, std::span<const std::byte> attributes);
  const BoundCall& call() const { return call_; }

 private:
  static constexpr std::size_t kMaxTensors = 12;
  std::array<BoundTensor, kMaxTensors> tensors_{};
  BoundCall call_;
};

}  // namespace reprise
