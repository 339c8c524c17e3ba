#include "reprise/graph/compute_graph.h"

#include <algorithm>

#include "framework/graph/node_call.h"

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
  const auto& [outer, name, index] = scopes_[scope];
  return texts_[name] + (index < 0 ? "" : "." + std::to_string(index));
}

std::string Names::path(std::uint32_t scope) const {
  if (scope == 0) {
    return "";
  }
  const std::string outer = path(outer_of(scope));
  return outer + (outer.empty() ? "" : "/") + last_part(scope);
}

std::uint32_t ComputeGraph::tensor_at(std::uint32_t node, std::size_t slot) const {
  const std::span<const Use> its_uses = uses_of(nodes[node]);
  const auto use = std::ranges::find(its_uses, slot, &Use::slot);
  return use == its_uses.end() ? kNoIndex : use->tensor;
}

std::string ComputeGraph::label_of(std::uint32_t node) const {
  const auto host_step = host_steps.find(node);
  return host_step != host_steps.end() ? host_step->second : names.last_part(nodes[node].scope);
}

bool ComputeGraph::decides_iterations(std::uint32_t node) const {
  if (iteration_tensor == kNoIndex) {
    return false;
  }
  const std::uint32_t storage = tensors[iteration_tensor].storage;
  return std::ranges::any_of(uses_of(nodes[node]), [&](const Use& use) {
    return tensors[use.tensor].storage == storage && writes(use.access);
  });
}

Cost ComputeGraph::cost_of(std::uint32_t node) const {
  const NodeCall bound(*this, node);
  return nodes[node].op->cost(bound.call());
}

}  // namespace reprise
