#include "framework/graph/passes/fusing.h"

#include <algorithm>

#include "framework/core/lowering.h"

namespace reprise {

bool Fusing::overlap(const Use& a, const Use& b) const {
  const GraphTensor& x = graph_.tensors[a.tensor];
  const GraphTensor& y = graph_.tensors[b.tensor];
  return x.storage == y.storage &&
         std::max(x.offset, y.offset) <
             std::min(x.offset + x.spec.span_bytes(), y.offset + y.spec.span_bytes());
}

std::string Fusing::name_of(const ScheduledCall& call, std::uint32_t node) {
  return joined_text(call.op->name, " (", node, ")");
}

std::string Fusing::nodes_between(std::size_t from, std::size_t to,
                                  const ScheduledCall& moved) const {
  for (std::size_t at = from + 1; at < to; ++at) {
    const std::uint32_t node = schedule_.order[at];
    if (node == kNoIndex) {
      continue;
    }
    if (graph_.host_steps.contains(node) || graph_.decides_iterations(node)) {
      return "a host step, or what decides about iterations, is between them";
    }
    const ScheduledCall call = call_at(node);
    for (const Use& use : call.uses) {
      for (const Use& own : moved.uses) {
        if ((writes(use.access) || writes(own.access)) && overlap(use, own)) {
          return joined_text(name_of(call, node), " between them ",
                             writes(use.access) ? "writes" : "reads", " what ", moved.op->name,
                             writes(own.access) ? " writes" : " reads");
        }
      }
    }
  }
  return {};
}

std::string Fusing::operands_of(const FusedCall& fused) const {
  const std::string name(fused.op->name);
  for (const Use& use : fused.uses) {
    const TensorSpec& spec = graph_.tensors[use.tensor].spec;
    if (use.slot < fused.op->operands.size()) {
      const Operand& operand = fused.op->operands[use.slot];
      if (!holds(operand.dtypes, spec.dtype)) {
        return joined_text(name, " takes no ", reprise::name_of(spec.dtype), " as ", operand.name);
      }
      if (!has_layout(spec, operand.layout)) {
        return joined_text(name, " takes no strides as those of its ", operand.name);
      }
    }
    for (const Use& other : fused.uses) {
      if (writes(use.access) && other.slot != use.slot && overlap(use, other)) {
        return name + " would write what it reads";
      }
    }
  }
  return {};
}

std::string Fusing::lowering_of(std::uint32_t node, const FusedCall& fused) const {
  StepList steps;
  try {
    lower(bound(node, ScheduledCall(fused)).call(), traits_, steps);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

std::vector<std::uint32_t> Fusing::members_of(std::span<const std::uint32_t> nodes) const {
  std::vector<std::uint32_t> members;
  for (const std::uint32_t node : nodes) {
    const auto it = schedule_.fused.find(node);
    if (it == schedule_.fused.end()) {
      members.push_back(node);
    } else {
      members.insert(members.end(), it->second.members.begin(), it->second.members.end());
    }
  }
  std::ranges::sort(members);
  return members;
}

}  // namespace reprise
