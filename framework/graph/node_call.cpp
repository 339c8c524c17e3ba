#include "framework/graph/node_call.h"

namespace reprise {

NodeCall::NodeCall(const ComputeGraph& graph, std::uint32_t node)
    : NodeCall(graph, node, *graph.nodes[node].op, graph.uses_of(graph.nodes[node]),
               graph.attributes_of(graph.nodes[node])) {}

NodeCall::NodeCall(const ComputeGraph& graph, std::uint32_t node, const OpDef& op,
                   std::span<const Use> uses, std::span<const std::byte> attributes)
    : call_{op, node, {}, {}, attributes} {
  const auto bound = [&](std::uint32_t tensor) {
    const GraphTensor& t = graph.tensors[tensor];
    return BoundTensor{&t.spec, t.storage, t.offset};
  };
  for (const Use& use : uses) {
    if (use.slot < kMaxTensors) {  // the state use of a dynamic op comes after the schema's slots
      tensors_[use.slot] = bound(use.tensor);
    }
  }
  call_.tensors = std::span(tensors_).first(op.operands.size() + op.results.size());
  if (op.reads_state()) {
    call_.state = bound(graph.state_tensor);
  }
}

}  // namespace reprise
