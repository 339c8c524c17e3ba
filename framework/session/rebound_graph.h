// The same graph and plan over other memory.
#pragma once
#include <memory>
#include <span>

#include "reprise/graph/recorded_graph.h"

namespace reprise {

struct BufferChange {
  const Buffer* from;
  std::shared_ptr<Buffer> to;  // of the same size, and no buffer that the graph keeps
};

/// A copy of `recorded` that has `to` wherever it had `from`. Plans hold as long as different
/// buffers stay different.
std::shared_ptr<RecordedGraph> rebound_graph(const RecordedGraph& recorded,
                                             std::span<const BufferChange> changes);

/// A buffer without memory: where a graph is to get one.
std::shared_ptr<Buffer> placeholder(const std::string& name, std::uint64_t bytes);

}  // namespace reprise
