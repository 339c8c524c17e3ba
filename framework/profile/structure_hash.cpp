#include "framework/profile/structure_hash.h"

#include "framework/profile/content_hash.h"
#include "framework/profile/json.h"

namespace reprise::profile {

std::string structure_hash(const ComputeGraph& graph, std::span<const StateFieldInfo> fields) {
  Hasher hash;
  for (const Node& node : graph.nodes) {
    hash.text(node.op->name).text(graph.names.path(node.scope));
    hash.text(attributes_json(*node.op, graph.attributes_of(node), fields));
    hash.number(node.use_count);
    for (const Use& use : graph.uses_of(node)) {
      hash.number(use.tensor).number(use.slot).number(static_cast<std::uint64_t>(use.access));
    }
  }
  for (const GraphTensor& tensor : graph.tensors) {
    hash.text(name_of(tensor.spec.dtype)).text(name_of(tensor.role));
    hash.number(tensor.storage).number(tensor.offset).number(tensor.alias_of);
    hash.number(tensor.spec.shape.rank());
    for (std::size_t d = 0; d < tensor.spec.shape.rank(); ++d) {
      hash.number(static_cast<std::uint64_t>(tensor.spec.shape.dim(d)));
      hash.number(static_cast<std::uint64_t>(tensor.spec.strides[d]));
    }
  }
  for (const Storage& storage : graph.storages) {
    hash.number(storage.bytes).number(static_cast<std::uint64_t>(storage.kind));
    hash.number(storage.input ? 1 : 0).number(storage.output ? 1 : 0);
  }
  return hash.hex();
}

}  // namespace reprise::profile
