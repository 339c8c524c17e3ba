#include "framework/session/direct_run.h"

namespace reprise {

DirectRun::DirectRun(std::shared_ptr<ExecutorCore> core, std::string_view name,
                     const GraphSizes& expected)
    : core_(std::move(core)),
      arena_(ExecutorCore::borrow_arena(core_)),
      encoder_(core_->device().backend().encoder({.name = name})),
      labels_(*encoder_) {
  steps_.reserve(expected.nodes, expected.uses);
  homes_.reserve(expected.storages);
}

std::uint32_t DirectRun::pool_of(const std::shared_ptr<Buffer>& buffer) {
  std::uint32_t& pool = pool_index_.slot(buffer.get());
  if (pool == kNoIndex) {
    pool = static_cast<std::uint32_t>(pools_.size());
    pools_.push_back(buffer);
  }
  return pool;
}

void DirectRun::place(const ComputeGraph& graph, std::uint32_t storage) {
  homes_.resize(std::max<std::size_t>(homes_.size(), graph.storages.size()));
  Home& home = homes_[storage];
  if (home.pool != kUnplaced) {
    return;
  }
  const Storage& s = graph.storages[storage];
  if (s.kind == StorageKind::persistent) {
    home.pool = pool_of(s.buffer);
    return;
  }
  home.range = arena_->allocate(core_->device(), s.bytes, s.input);
  home.pool = pool_of(arena_->chunk(home.range.chunk));
  home.offset = home.range.begin;
}

void DirectRun::encode_node(GraphCapture& capture) {
  const ComputeGraph& graph = capture.graph();
  capture.collect_dead([&](std::uint32_t storage) {
    if (!graph.storages[storage].input && homes_[storage].pool != kUnplaced) {
      arena_->release(homes_[storage].range);
    }
  });
  const auto index = static_cast<std::uint32_t>(graph.nodes.size() - 1);
  for (const Use& use : graph.uses_of(graph.nodes[index])) {
    place(graph, graph.tensors[use.tensor].storage);
  }
  const std::size_t first = steps_.size();
  const NodeCall node(graph, index);
  lower(node.call(), core_->traits(), steps_);
  labels_.enter(graph.names, graph.nodes[index].scope);
  for (std::size_t i = first; i < steps_.size(); ++i) {
    for (Binding& binding : steps_.bindings(steps_[i])) {
      const Home& home = homes_[binding.pool];
      binding.pool = binding.bytes == 0 ? 0 : home.pool;
      binding.offset += home.offset;
    }
    touches_of(steps_, steps_[i], touches_);
    if (tracker_.step(static_cast<std::uint32_t>(i), touches_)) {
      encoder_->barrier();
      arena_->barrier();
    }
    encoder_->step(steps_, i, pools_);
  }
}

std::unique_ptr<Encoding> DirectRun::finish() {
  labels_.close();
  return encoder_->finish();
}

Exchange DirectRun::exchange(const ComputeGraph& graph, std::string name, std::uint32_t tensor) {
  const GraphTensor& t = graph.tensors[tensor];
  place(graph, t.storage);
  const Home& home = homes_[t.storage];
  return {std::move(name), t.spec, pools_[home.pool], home.offset + t.offset, 0};
}

}  // namespace reprise
