// KeyedGraphs: finds, records, launches and lets go of graphs by key. GraphCache and the keyed
// captures of an executor are doors to it.
#pragma once
#include "framework/session/cache_counts.h"
#include "framework/session/graph_shelf.h"

namespace reprise {

/// Thread-safe. See GraphCache for what its members do.
class KeyedGraphs {
 public:
  KeyedGraphs(std::shared_ptr<ExecutorCore> core, const GraphCacheOptions& options);

  KeyedRun run(const GraphKey& key, const RecordFunction& pass, SessionOptions session,
               const LaunchOptions& launch);
  /// Keeps what a session recorded under a key, in place of what was there, and runs it.
  KeyedRun keep(const GraphKey& key, GraphSession& session, const FinishOptions& options);
  KeyedRun replay(const GraphKey& key, std::span<const NamedInput> inputs,
                  const LaunchOptions& launch);
  GraphLookup find(const GraphKey& key) const;
  std::size_t reset(const GraphKey& key);
  std::size_t reset_all(std::uint64_t owner);  // 0: of every owner
  GraphCacheCounters counters() const;

 private:
  /// Holds the mutex of an entry. A pass that uses its own key is told instead of waiting for
  /// itself.
  class Locked {
   public:
    explicit Locked(KeyEntry& entry);
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;
    ~Locked();

   private:
    KeyEntry& entry_;
  };
  /// With the entry locked: lets go of a graph whose memory was freed.
  void drop_if_stale(KeyEntry& entry);
  /// With the entry locked: a launch of the graph it has. Misses if tickets hold all slots.
  KeyedRun launch(KeyEntry& entry, std::span<const NamedInput> inputs, const LaunchOptions& launch);
  KeyedRun record(KeyEntry& entry, const RecordFunction& pass, const SessionOptions& session,
                  const LaunchOptions& launch);
  KeyedRun run_directly(const GraphKey& key, const RecordFunction& pass, SessionOptions session,
                        const LaunchOptions& launch);
  /// With the entry locked: makes `graph` its graph, if there is room. Returns whether that churns.
  bool put(KeyEntry& entry, CapturedGraph& graph, const StateBlock& state);
  void require_same_structure(const KeyEntry& entry, const CapturedGraph& graph,
                              const GraphStructure& structure) const;
  void report_end(const CapturedGraph& graph, std::string_view evicted,
                  std::string_view stale) const;
  std::size_t reset(KeyEntry& entry);

  std::shared_ptr<ExecutorCore> core_;
  GraphShelf shelf_;
  CacheCounts counts_;
};

}  // namespace reprise
