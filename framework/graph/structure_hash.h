// What recordings of one forward pass have in common on any device, under any names, and where two
// recordings differ.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "reprise/graph/compute_graph.h"

namespace reprise {

/// One node: its op, scope, attributes, and the tensors it uses with all that holds of them. Not
/// the names of tensors, not the source line.
struct NodeSignature {
  std::uint64_t hash = 0;
  const OpDef* op = nullptr;
  SourceLocation where;
};

/// Covers ops, attributes, scopes, shapes, dtypes, uses and sharing of memory; not names, source
/// lines, the plan or the device. Attributes that live in the state count by the field's name.
struct GraphStructure {
  std::string hash;                  // 32 hex digits, of everything
  std::vector<NodeSignature> nodes;  // in order; 40 bytes each
};

GraphStructure structure_of(const ComputeGraph& graph);
/// The hash alone.
std::string structure_hash(const ComputeGraph& graph);

/// The first node that is not the same in both, which may be one past the end of either; empty if
/// all nodes are the same.
std::optional<std::uint32_t> first_difference(std::span<const NodeSignature> a,
                                              std::span<const NodeSignature> b);
/// In what two graphs of different structure differ first, in words: the node of each, and the
/// operands or attributes that are not the same. Operands count by their names here, so a node that
/// reads another tensor of the same shape is found where it does.
std::string describe_difference(const ComputeGraph& a, const ComputeGraph& b);
/// "op 3 add (layer.0/mlp), model.cpp:41": a node of `graph`, or "no op 3" past its end.
std::string describe_node(const ComputeGraph& graph, std::uint32_t node);

}  // namespace reprise
