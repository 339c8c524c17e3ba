#include "framework/session/saved/graph_saver.h"

#include <algorithm>
#include <map>

#include "framework/graph/hasher.h"
#include "framework/graph/plan_fingerprint.h"
#include "framework/graph/structure_hash.h"
#include "framework/session/record/attribute_bytes.h"
#include "framework/session/saved/saved_kernels.h"
#include "reprise/ops/op_named.h"

namespace reprise {
namespace {

class GraphSaver {
 public:
  explicit GraphSaver(const Recording& recording)
      : recording_(recording), graph_(recording.graph()) {}

  SavedGraph save() {
    saved_.library_version = library_version();
    saved_.name = graph_.name;
    save_names();
    for (const GraphTensor& tensor : graph_.tensors) {
      save_tensor(tensor);
    }
    for (const Node& node : graph_.nodes) {
      save_node(node);
    }
    saved_.has_state = static_cast<bool>(recording_.state());
    saved_.state_fields = graph_.state_fields;
    if (saved_.has_state) {
      saved_.stop_word = recording_.state().layout().stop_word().value_or(kNoIndex);
    }
    save_ports();
    saved_.extents = graph_.extents;
    saved_.max_iterations = graph_.max_iterations;
    saved_.slots = static_cast<std::uint32_t>(recording_.slots().count());
    saved_.options.reuse = recording_.plan().reuse;
    saved_.options.passes = recording_.plan().passes;
    saved_.fingerprint = fingerprint_of(recording_);
    saved_.structure_hash = structure_hash(graph_);
    return std::move(saved_);
  }

 private:
  void save_names() {
    const Names& names = graph_.names;
    for (std::uint32_t i = 0; i < names.text_count(); ++i) {
      saved_.texts.emplace_back(names.text(i));
    }
    saved_.name_count = names.text_count();
    for (std::uint32_t s = 1; s < names.scope_count(); ++s) {
      saved_.scopes.push_back({names.outer_of(s), names.name_of(s), names.index_of(s)});
    }
  }

  std::uint32_t source_text(const char* text) {
    const auto [it, fresh] =
        source_texts_.try_emplace(text, static_cast<std::uint32_t>(saved_.texts.size()));
    if (fresh) {
      saved_.texts.emplace_back(text);
    }
    return it->second;
  }

  std::uint32_t name_of(const GraphTensor& tensor) const {
    const Storage& storage = graph_.storages[tensor.storage];
    const bool own = storage.origin == StorageOrigin::own && tensor.alias_of == kNoIndex;
    return own ? storage.name : tensor.name;
  }

  StorageOrigin origin_of(const GraphTensor& tensor) {
    const Storage& storage = graph_.storages[tensor.storage];
    if (tensor.alias_of != kNoIndex) {
      return StorageOrigin::transient;
    }
    // What was the recording's own is given by name as well: the file is of no executable graph.
    if (storage.origin != StorageOrigin::caller && storage.origin != StorageOrigin::own) {
      return storage.origin;
    }
    const std::string_view name = graph_.names.text(name_of(tensor));
    const auto [known, fresh] = caller_names_.try_emplace(name, tensor.storage);
    const bool own = storage.origin == StorageOrigin::own && known->second == tensor.storage;
    if (name.empty() || !(fresh || own)) {
      throw_invalid_argument(
          "The graph '", graph_.name,
          "' cannot be saved: whoever loads it gives persistent tensors by name, but (",
          (name.empty() ? "one without a name" : std::string(name)), ") ", to_string(tensor.spec),
          " has none of its own. Name it when it is made.");
    }
    return StorageOrigin::caller;
  }

  void save_tensor(const GraphTensor& t) {
    const Storage& storage = graph_.storages[t.storage];
    saved_.tensors.push_back({.spec = t.spec,
                              .offset = t.offset,
                              .storage = t.storage,
                              .storage_bytes = storage.is_persistent() ? storage.bytes : 0,
                              .name = name_of(t),
                              .role = t.role,
                              .alias_of = t.alias_of,
                              .origin = origin_of(t)});
  }

  std::uint32_t op_index(const OpDef& op) {
    const auto [it, fresh] = ops_.try_emplace(&op, static_cast<std::uint32_t>(saved_.ops.size()));
    if (fresh) {
      if (const CustomOp* kernel = custom_op(op); kernel != nullptr) {
        saved_.kernels.push_back(saved_kernel(*kernel, it->second));
      } else if (op_named(op.name) != &op) {
        throw_error(ErrorCode::unsupported, "The graph '", graph_.name,
                    "' cannot be saved: its op (", op.name,
                    ") is not one of the library's, so that nobody could load it.");
      }
      saved_.ops.push_back({std::string(op.name), schema_text(op)});
    }
    return it->second;
  }

  /// A feed puts a result into memory that the op was not given: no session can record that again.
  void require_no_feed(const OpDef& op, const GraphTensor& result) const {
    const Storage& storage = graph_.storages[result.storage];
    if (storage.origin == StorageOrigin::own && result.alias_of == kNoIndex) {
      throw_error(ErrorCode::unsupported, "The graph '", graph_.name,
                  "' cannot be saved: the result of its op (", op.name,
                  ") goes into the memory of (", graph_.names.text(storage.name),
                  "), which only its executable graph has.");
    }
  }

  void save_node(const Node& node) {
    const OpDef& op = *node.op;
    SavedNode saved{.op = op_index(op),
                    .scope = node.scope,
                    .file = source_text(node.where.file),
                    .function = source_text(node.where.function),
                    .line = node.where.line,
                    .operands = std::vector(op.operands.size(), kNoIndex),
                    .results = std::vector(op.results.size(), kNoIndex),
                    .attributes = saved_attributes(op, graph_.attributes_of(node))};
    for (const Use& use : graph_.uses_of(node)) {
      if (use.slot < saved.operands.size()) {
        saved.operands[use.slot] = use.tensor;
      } else if (use.slot - saved.operands.size() < saved.results.size()) {
        require_no_feed(op, graph_.tensors[use.tensor]);
        saved.results[use.slot - saved.operands.size()] = use.tensor;
      }  // what follows is the state block, if the op reads it
    }
    saved_.nodes.push_back(std::move(saved));
  }

  void save_ports() {
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      const std::span<const std::byte> values = recording_.inputs().values(i);
      saved_.inputs.push_back(
          {graph_.inputs[i].name, graph_.inputs[i].tensor, {values.begin(), values.end()}});
    }
    // Also those that feed a handle alone: who loads the file has no handles.
    for (const Port& output : graph_.outputs) {
      saved_.outputs.push_back({output.name, output.tensor, {}});
    }
  }

  const Recording& recording_;
  const ComputeGraph& graph_;
  SavedGraph saved_;
  std::map<std::string_view, std::uint32_t> caller_names_;  // and their storages
  std::map<std::string, std::uint32_t> source_texts_;
  std::map<const OpDef*, std::uint32_t> ops_;
};

}  // namespace

SavedGraph saved_graph_of(const Recording& recording) {
  if (recording.may_stop()) {
    throw_error(ErrorCode::unsupported, "The graph '", recording.graph().name,
                "' cannot be saved: the host moves its experts, and no file can hold that; give "
                "every expert a cell.");
  }
  return GraphSaver(recording).save();
}

std::vector<FingerprintPart> fingerprint_of(const Recording& recording) {
  const ExecutorCore& core = recording.core();
  return fingerprint_of(recording.plan(), core.traits(), [&](const Kernel& kernel) {
    // A device that does not replay has none before the first launch.
    const auto info = core.traits().replays ? core.device().backend().kernel_info(kernel)
                                            : std::optional<KernelInfo>();
    return info ? Hasher().bytes(std::as_bytes(info->spirv)).hex() : std::string();
  });
}

}  // namespace reprise
