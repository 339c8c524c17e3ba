// MemorySnapshot: persistent memory as it was before something writes it.
#pragma once
#include <map>
#include <vector>

#include "reprise/graph/compute_graph.h"
#include "reprise/session/device.h"

namespace reprise {

/// Restored when it dies, as far as the device still can.
class MemorySnapshot {
 public:
  explicit MemorySnapshot(Device device) : device_(std::move(device)) {}
  MemorySnapshot(const MemorySnapshot&) = delete;
  MemorySnapshot& operator=(const MemorySnapshot&) = delete;
  ~MemorySnapshot();

  /// Keeps the bytes of the range that it does not have yet, as they are now.
  void add(const std::shared_ptr<Buffer>& buffer, std::uint64_t begin, std::uint64_t end);
  /// Throws what Device::write throws.
  void restore() const;
  /// Nothing is restored any more.
  void forget() { buffers_.clear(); }

 private:
  using Pieces = std::map<std::uint64_t, std::vector<std::byte>>;  // by where they begin; disjoint
  Device device_;
  std::map<std::shared_ptr<Buffer>, Pieces> buffers_;
};

/// Calls f(tensor) for every persistent tensor of the pass that the nodes from `first` on write.
template <class F>
void for_each_persistent_write(const ComputeGraph& graph, std::size_t first, F&& f) {
  for (std::size_t n = first; n < graph.nodes.size(); ++n) {
    for (const Use& use : graph.uses_of(graph.nodes[n])) {
      const GraphTensor& tensor = graph.tensors[use.tensor];
      const Storage& storage = graph.storages[tensor.storage];
      if (writes(use.access) && storage.is_persistent() && !storage.is_internal()) {
        f(tensor);
      }
    }
  }
}

}  // namespace reprise
