#include "reprise/graph/structure_hash.h"

#include <algorithm>
#include <cstring>

#include "reprise/graph/hasher.h"

namespace reprise {
namespace {

void add_attribute(Hasher& hash, AttributeType type, std::span<const std::byte> bytes,
                   std::span<const StateFieldInfo> fields) {
  std::uint32_t word = StateField::kNone;
  if (type == AttributeType::param_i32 || type == AttributeType::param_f32) {
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
  hash.number(storage.bytes).number(static_cast<std::uint64_t>(storage.kind));
  hash.number(storage.input ? 1 : 0).number(storage.output ? 1 : 0);
}

std::uint64_t hash_of(const ComputeGraph& graph, std::uint32_t index,
                      std::span<const StateFieldInfo> fields) {
  const Node& node = graph.nodes[index];
  Hasher hash;
  hash.text(node.op->name).text(graph.names.path(node.scope));
  if (const auto step = graph.host_steps.find(index); step != graph.host_steps.end()) {
    hash.text(step->second.name);
  }
  const std::span<const std::byte> attributes = graph.attributes_of(node);
  for (const Attribute& a : node.op->attributes) {
    if (std::size_t{a.offset} + size_of(a.type) <= attributes.size()) {
      add_attribute(hash.text(a.name), a.type, attributes.subspan(a.offset), fields);
    }
  }
  for (const Use& use : graph.uses_of(node)) {
    hash.number(use.tensor).number(use.slot).number(static_cast<std::uint64_t>(use.access));
    add_tensor(hash, graph, graph.tensors[use.tensor]);
  }
  return hash.digest();
}

}  // namespace

GraphStructure structure_of(const ComputeGraph& graph, std::span<const StateFieldInfo> fields) {
  GraphStructure structure;
  structure.nodes.reserve(graph.nodes.size());
  Hasher hash;
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    structure.nodes.push_back({hash_of(graph, n, fields), node.op, node.where});
    hash.number(structure.nodes.back().hash);
  }
  for (const GraphTensor& tensor : graph.tensors) {  // some may be used by no node
    add_tensor(hash, graph, tensor);
  }
  structure.hash = hash.hex();
  return structure;
}

std::string structure_hash(const ComputeGraph& graph, std::span<const StateFieldInfo> fields) {
  return structure_of(graph, fields).hash;
}

std::optional<std::uint32_t> first_difference(std::span<const NodeSignature> a,
                                              std::span<const NodeSignature> b) {
  const auto [at, other] =
      std::ranges::mismatch(a, b, {}, &NodeSignature::hash, &NodeSignature::hash);
  if (at == a.end() && other == b.end()) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(at - a.begin());
}

std::string describe_node(const ComputeGraph& graph, std::uint32_t node) {
  if (node >= graph.nodes.size()) {
    return "no op " + std::to_string(node);
  }
  const Node& n = graph.nodes[node];
  const std::string path = graph.names.path(n.scope);
  return "op " + std::to_string(node) + " " + std::string(n.op->name) +
         (path.empty() ? "" : " (" + path + ")") +
         (n.where.line == 0
              ? ""
              : std::string(", ") + n.where.file + ":" + std::to_string(n.where.line));
}

}  // namespace reprise
