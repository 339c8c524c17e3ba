#include "framework/session/rebound_graph.h"

#include <algorithm>

namespace reprise {
namespace {

class Placeholder final : public Buffer {
 public:
  explicit Placeholder(const Buffer& of) : Buffer(of.name(), of.bytes(), of.kind()) {}
  void release_memory() noexcept override {}
};

}  // namespace

std::shared_ptr<Buffer> placeholder_for(const Buffer& buffer) {
  return std::make_shared<Placeholder>(buffer);
}

std::shared_ptr<RecordedGraph> rebound_graph(const RecordedGraph& recorded,
                                             std::span<const BufferChange> changes) {
  auto copy = std::make_shared<RecordedGraph>(recorded);
  const auto change = [&](std::shared_ptr<Buffer>& buffer) {
    const auto it = std::ranges::find(changes, buffer.get(), &BufferChange::from);
    if (buffer != nullptr && it != changes.end()) {
      buffer = it->to;
    }
  };
  for (Pool& pool : copy->plan.pools) {
    change(pool.buffer);
  }
  for (Storage& storage : copy->graph.storages) {
    change(storage.buffer);
  }
  return copy;
}

}  // namespace reprise
