#include "framework/graph/structure_hash.h"

#include <algorithm>
#include <cstring>

#include "framework/core/op.h"
#include "framework/graph/hasher.h"
#include "framework/graph/tensor_names.h"

namespace reprise {
namespace {

void add_attribute(Hasher& hash, AttributeType type, std::span<const std::byte> bytes,
                   std::span<const StateFieldInfo> fields) {
  std::uint32_t word = StateField::kNone;
  if (is_param(type)) {
    std::memcpy(&word, bytes.data() + offsetof(Param<float>, word), sizeof word);
  }
  if (word == StateField::kNone) {
    hash.bytes(type == AttributeType::boolean ? bytes.first(1) : bytes.first(sizeof(float)));
    return;
  }
  const auto field = std::ranges::find(fields, word, &StateFieldInfo::word);
  if (field == fields.end()) {
    hash.number(word);
  } else {
    hash.text(field->name);
  }
}

void add_tensor(Hasher& hash, const ComputeGraph& graph, const GraphTensor& tensor) {
  hash.text(name_of(tensor.spec.dtype)).text(name_of(tensor.role));
  hash.number(tensor.storage).number(tensor.offset).number(tensor.alias_of);
  hash.number(tensor.spec.shape.rank());
  hash.number(tensor.spec.shape.extent_word());
  for (std::size_t d = 0; d < tensor.spec.shape.rank(); ++d) {
    hash.number(static_cast<std::uint64_t>(tensor.spec.shape.dim(d)));
    hash.number(static_cast<std::uint64_t>(tensor.spec.strides[d]));
  }
  const Storage& storage = graph.storages[tensor.storage];
  hash.number(storage.bytes).number(storage.is_persistent() ? 1 : 0);
  hash.number(storage.input ? 1 : 0).number(storage.output ? 1 : 0);
}

std::uint64_t hash_of(const ComputeGraph& graph, std::uint32_t index) {
  const Node& node = graph.nodes[index];
  Hasher hash;
  hash.text(node.op->name).text(graph.names.path(node.scope));
  if (const auto step = graph.host_steps.find(index); step != graph.host_steps.end()) {
    hash.text(step->second);
  }
  const std::span<const std::byte> attributes = graph.attributes_of(node);
  for (const Attribute& a : node.op->attributes) {
    if (std::size_t{a.offset} + size_of(a.type) <= attributes.size()) {
      add_attribute(hash.text(a.name), a.type, attributes.subspan(a.offset), graph.state_fields);
    }
  }
  for (const Use& use : graph.uses_of(node)) {
    hash.number(use.tensor).number(use.slot).number(static_cast<std::uint64_t>(use.access));
    add_tensor(hash, graph, graph.tensors[use.tensor]);
  }
  return hash.digest();
}

/// What a node is made of, in words that two recordings of a pass have in common: its op, scope,
/// attributes and operands by name.
std::vector<std::pair<std::string, std::string>> facts_of(const ComputeGraph& graph,
                                                          std::span<const std::string> names,
                                                          std::uint32_t index) {
  std::vector<std::pair<std::string, std::string>> facts;
  if (index >= graph.nodes.size()) {
    return facts;
  }
  const Node& node = graph.nodes[index];
  facts.emplace_back("op", node.op->name);
  facts.emplace_back("scope", graph.names.path(node.scope));
  const std::span<const std::byte> attributes = graph.attributes_of(node);
  for (const Attribute& a : node.op->attributes) {
    if (std::size_t{a.offset} + size_of(a.type) <= attributes.size()) {
      Hasher hash;
      add_attribute(hash, a.type, attributes.subspan(a.offset), graph.state_fields);
      facts.emplace_back(a.name, hash.hex());
    }
  }
  for (const Use& use : graph.uses_of(node)) {
    if (use.slot < node.op->operands.size()) {
      const GraphTensor& tensor = graph.tensors[use.tensor];
      facts.emplace_back(operand_name(*node.op, use.slot),
                         "'" + names[use.tensor] + "' " + to_string(tensor.spec));
    }
  }
  return facts;
}

}  // namespace

GraphStructure structure_of(const ComputeGraph& graph) {
  GraphStructure structure;
  structure.nodes.reserve(graph.nodes.size());
  Hasher hash;
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    structure.nodes.push_back({hash_of(graph, n), node.op, node.where});
    hash.number(structure.nodes.back().hash);
  }
  for (const GraphTensor& tensor : graph.tensors) {  // some may be used by no node
    add_tensor(hash, graph, tensor);
  }
  structure.hash = hash.hex();
  return structure;
}

std::string structure_hash(const ComputeGraph& graph) { return structure_of(graph).hash; }

std::optional<std::uint32_t> first_difference(std::span<const NodeSignature> a,
                                              std::span<const NodeSignature> b) {
  const auto [at, other] =
      std::ranges::mismatch(a, b, {}, &NodeSignature::hash, &NodeSignature::hash);
  if (at == a.end() && other == b.end()) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(at - a.begin());
}

std::string describe_difference(const ComputeGraph& a, const ComputeGraph& b) {
  const GraphStructure in_a = structure_of(a), in_b = structure_of(b);
  const std::size_t end = std::max(a.nodes.size(), b.nodes.size());
  const std::size_t last = first_difference(in_a.nodes, in_b.nodes).value_or(end);
  const std::vector<std::string> names_a = tensor_names(a), names_b = tensor_names(b);
  for (std::uint32_t n = 0; n <= last && n < end; ++n) {
    const auto facts_a = facts_of(a, names_a, n);
    const auto facts_b = facts_of(b, names_b, n);
    if (n < last && facts_a == facts_b) {
      continue;
    }
    std::string text = describe_node(a, n) + ", which is " + describe_node(b, n) + " there";
    const auto [x, y] = std::ranges::mismatch(facts_a, facts_b);
    if (x == facts_a.end() || y == facts_b.end() || x->first != y->first || x->first == "op") {
      return text;
    }
    const bool words = x->second.starts_with('\'') || x->first == "scope";
    return text + ": " + x->first + (words ? " is " + x->second + " and " + y->second : " differs");
  }
  return "the tensors that no op uses";
}

std::string describe_node(const ComputeGraph& graph, std::uint32_t node) {
  if (node >= graph.nodes.size()) {
    return "no op " + std::to_string(node);
  }
  const Node& n = graph.nodes[node];
  const std::string path = graph.names.path(n.scope);
  return joined_text("op ", node, " ", n.op->name, path.empty() ? "" : " (" + path + ")",
                     n.where.line == 0 ? "" : ", " + to_string(n.where));
}

}  // namespace reprise
