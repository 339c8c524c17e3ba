#include "reprise/session/graph_cache.h"

#include "framework/session/keyed_graphs.h"

namespace reprise {

GraphCache::GraphCache(std::shared_ptr<ExecutorCore> core, GraphCacheOptions options)
    : graphs_(std::make_shared<KeyedGraphs>(std::move(core), options)) {}

GraphCache::GraphCache(const GraphExecutor& executor, GraphCacheOptions options)
    : GraphCache(executor.core_, options) {}

KeyedRun GraphCache::run(const GraphKey& key, const RecordFunction& pass, SessionOptions session,
                         const LaunchOptions& launch) {
  return graphs_->run(key, pass, std::move(session), launch);
}

GraphLookup GraphCache::find(const GraphKey& key) const { return graphs_->find(key); }

std::size_t GraphCache::reset(const GraphKey& key) { return graphs_->reset(key); }

std::size_t GraphCache::reset_all(const GraphOwner& owner) {
  return owner.number() == 0 ? 0 : graphs_->reset_all(owner.number());
}

std::size_t GraphCache::reset_all() { return graphs_->reset_all(0); }

GraphCacheCounters GraphCache::counters() const { return graphs_->counters(); }

}  // namespace reprise
