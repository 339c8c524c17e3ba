// GraphCapture: fills the tables of a ComputeGraph from op calls, and owns the session's tensors.
// Does not run or plan anything.
#pragma once
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "framework/core/tensor_slab.h"
#include "framework/session/executor/graph_sizes.h"
#include "reprise/core/host_step.h"
#include "reprise/graph/compute_graph.h"

namespace reprise {

struct OpCall;
struct Outputs;

/// Pointer -> index, open addressing, no allocation per entry.
class PointerMap {
 public:
  /// The value of `key`; kNoIndex if it is new.
  std::uint32_t& slot(const void* key);

 private:
  struct Entry {
    const void* key = nullptr;
    std::uint32_t value = kNoIndex;
  };
  std::vector<Entry> entries_ = std::vector<Entry>(64);
  std::size_t count_ = 0;
};

class GraphCapture {
 public:
  GraphCapture(std::string name, std::uint64_t owner);
  GraphCapture(const GraphCapture&) = delete;
  GraphCapture& operator=(const GraphCapture&) = delete;
  ~GraphCapture();

  /// Makes room.
  void reserve(const GraphSizes& sizes);
  GraphSizes sizes() const;

  ComputeGraph& graph() { return graph_; }
  const ComputeGraph& graph() const { return graph_; }
  std::uint64_t owner() const { return slab_->owner(); }
  /// The memory of a persistent storage.
  const std::shared_ptr<Buffer>& buffer_of(std::uint32_t storage) const { return memory_[storage]; }
  /// Says where the memory of a persistent tensor comes from, if the graph uses it; those of which
  /// nothing is said are the caller's. `name`: of what is `own`.
  void set_origin(const TensorRef& tensor, StorageOrigin origin, std::string_view name = {});
  /// What host steps run, by node.
  std::map<std::uint32_t, HostFunction>& functions() { return functions_; }

  /// The index of a tensor in the graph; persistent ones are entered and retained on first use.
  std::uint32_t index_of(const TensorRef& tensor);
  Tensor add_input(std::string_view name, const TensorSpec& spec);
  /// Whether a transient can have the memory of a persistent tensor: it has memory of its own, all
  /// of it, and nothing of the graph uses the target.
  bool can_place(const TensorRef& tensor, const TensorRef& target);
  /// From its first node on, the memory of a transient is that of `target`. Recorded graphs only.
  void place(const TensorRef& tensor, const TensorRef& target);
  /// A view of an operand: no node.
  Tensor add_view(const OpCall& call, const Outputs& outputs);
  /// Adds a node and its results; `state` is the state block, or kNoIndex.
  void add_node(const OpCall& call, const Outputs& outputs, std::uint32_t scope,
                std::uint32_t state, std::span<Tensor> results);
  std::string tensor_name(const TensorRecord& tensor) const;

  /// Calls f(storage) for every transient storage whose last handle died since the last call.
  template <class F>
  void collect_dead(F&& f) {
    slab_->collect([&](const TensorRecord& record) {
      const std::uint32_t storage = graph_.tensors[record.index].storage;
      if (--handles_[storage] == 0 && !graph_.storages[storage].is_persistent()) {
        f(storage);
      }
    });
  }

 private:
  /// The index of an operand. Throws stale if its memory was freed.
  std::uint32_t operand(const OpCall& call, std::size_t i);
  /// Throws invalid_argument if an operand that the op writes shares memory with another one.
  void require_apart(const OpCall& call, std::span<const Use> uses) const;
  void keep_op(const OpDef& op);
  /// Null: a transient.
  const Buffer* buffer_behind(std::uint32_t tensor) const {
    const std::uint32_t storage = graph_.tensors[tensor].storage;
    return storage < memory_.size() ? memory_[storage].get() : nullptr;
  }
  Tensor make(const TensorSpec& spec, std::uint32_t storage, std::uint64_t offset);
  std::uint32_t add_storage(const Storage& storage, std::shared_ptr<Buffer> memory = nullptr);

  ComputeGraph graph_;
  PointerMap tensors_, buffers_;
  std::vector<std::shared_ptr<Buffer>> memory_;  // by storage, up to the last persistent one
  std::map<std::uint32_t, HostFunction> functions_;
  std::vector<Tensor> retained_;        // keys of tensors_ must not be reused by a new tensor
  std::vector<std::uint32_t> handles_;  // live records per storage
  TensorSlab* slab_;
};

}  // namespace reprise
