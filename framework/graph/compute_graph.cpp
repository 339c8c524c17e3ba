#include "reprise/graph/compute_graph.h"

#include <algorithm>

namespace reprise {

std::string_view name_of(TensorRole role) {
  constexpr std::array<std::string_view, 5> kNames{"activation", "input", "output", "param",
                                                   "state"};
  return kNames[static_cast<std::size_t>(role)];
}

std::uint32_t Names::intern(std::string_view text) {
  scratch_.assign(text);  // keeps its capacity
  const auto [it, fresh] = ids_.try_emplace(scratch_, static_cast<std::uint32_t>(texts_.size()));
  if (fresh) {
    texts_.emplace_back(text);
  }
  return it->second;
}

std::uint32_t Names::scope(std::uint32_t outer, std::string_view name, std::int32_t index) {
  const ScopeKey key{outer, intern(name), index};
  const auto [it, fresh] = scope_ids_.try_emplace(key, static_cast<std::uint32_t>(scopes_.size()));
  if (fresh) {
    scopes_.push_back(key);
  }
  return it->second;
}

std::string Names::last_part(std::uint32_t scope) const {
  const ScopeKey& key = scopes_[scope];
  return texts_[key.name] + (key.index < 0 ? "" : "." + std::to_string(key.index));
}

std::string Names::path(std::uint32_t scope) const {
  if (scope == 0) {
    return "";
  }
  const std::string outer = path(scopes_[scope].outer);
  return outer + (outer.empty() ? "" : "/") + last_part(scope);
}

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

std::string ComputeGraph::label_of(std::uint32_t node) const {
  const auto host_step = host_steps.find(node);
  return host_step != host_steps.end() ? host_step->second : names.last_part(nodes[node].scope);
}

bool ComputeGraph::decides_iterations(std::uint32_t node) const {
  return std::ranges::any_of(uses_of(nodes[node]), [&](const Use& use) {
    return use.tensor == iteration_tensor && writes(use.access);
  });
}

Cost ComputeGraph::cost_of(std::uint32_t node) const {
  const NodeCall bound(*this, node);
  return nodes[node].op->cost(bound.call());
}

}  // namespace reprise
