#include "framework/graph/tensor_names.h"

#include <map>

#include "framework/core/op.h"

namespace reprise {
namespace {

std::string place_of(const ComputeGraph& graph, const Node& node) {
  const std::string scope = graph.names.path(node.scope);
  return scope + (scope.empty() ? "" : "/") + std::string(node.op->name);
}

}  // namespace

std::string_view operand_name(const OpDef& op, std::size_t slot) {
  if (slot < op.operands.size()) {
    return op.operands[slot].name;
  }
  slot -= op.operands.size();
  return slot < op.results.size() ? op.results[slot].name : "state";
}

std::vector<std::string> tensor_names(const ComputeGraph& graph) {
  std::vector<std::string> names(graph.tensors.size());
  std::map<std::string, int> count;
  const auto give = [&](std::size_t tensor, const std::string& name) {
    if (names[tensor].empty() && !name.empty()) {
      const int n = ++count[name];
      names[tensor] = n == 1 ? name : name + "#" + std::to_string(n);
    }
  };
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    const GraphTensor& tensor = graph.tensors[t];
    names[t] = graph.names.text(tensor.name);  // as given, also where it repeats
    if (names[t].empty() && tensor.role == TensorRole::state && tensor.alias_of == kNoIndex) {
      give(t, "state");
    }
  }
  for (const bool results : {true, false}) {
    for (const Node& node : graph.nodes) {
      for (const Use& use : graph.uses_of(node)) {
        const bool result = use.slot >= node.op->operands.size();
        if (result == results && graph.tensors[use.tensor].alias_of == kNoIndex) {
          const bool only = result && node.op->results.size() == 1;
          give(use.tensor, place_of(graph, node) +
                               (only ? "" : "." + std::string(operand_name(*node.op, use.slot))));
        }
      }
    }
  }
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {  // a source comes before its views
    const std::uint32_t source = graph.tensors[t].alias_of;
    if (source < graph.tensors.size()) {
      give(t, names[source].empty() ? "" : names[source] + ".view");
    }
  }
  return names;
}

}  // namespace reprise
