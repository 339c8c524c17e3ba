#include "framework/session/rebound_graph.h"

#include <algorithm>

namespace reprise {
namespace {

class Placeholder final : public Buffer {
 public:
  Placeholder(const std::string& name, std::uint64_t bytes)
      : Buffer(name, bytes, BufferKind::device) {}
  void release_memory() noexcept override {}
};

}  // namespace

std::shared_ptr<Buffer> placeholder(const std::string& name, std::uint64_t bytes) {
  return std::make_shared<Placeholder>(name, bytes);
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
