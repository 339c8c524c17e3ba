#include "framework/graph/node_call.h"

namespace reprise {

NodeCall::NodeCall(const ComputeGraph& graph, std::uint32_t node, const ScheduledCall& scheduled)
    : call_{*scheduled.op, node, {}, {}, scheduled.attributes} {
  const OpDef& op = *scheduled.op;
  const auto bound = [&](std::uint32_t tensor) {
    const GraphTensor& t = graph.tensors[tensor];
    return BoundTensor{&t.spec, t.storage, t.offset};
  };
  for (const Use& use : scheduled.uses) {
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
