// GraphShelf: the graphs of a cache by key, within bounds. Says which graph goes when another
// comes.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "reprise/graph/structure_hash.h"
#include "reprise/session/graph_cache.h"

namespace reprise {

/// What is known of one key.
struct KeyEntry {
  explicit KeyEntry(GraphKey k) : key(std::move(k)) {}
  const GraphKey key;

  // Used by whoever holds the mutex.
  std::mutex mutex;
  std::atomic<std::thread::id> locked_by{};  // any thread may look
  CapturedGraph graph;                       // empty: `miss` says why
  StateBlock state;                          // of the graph
  /// Of the last graph, unless it was reset or stale.
  std::optional<std::vector<NodeSignature>> nodes;
  std::vector<std::shared_ptr<const OpDef>> custom_ops;  // that `nodes` look at
  MissReason miss = MissReason::absent;
  std::string text;  // about the miss

  /// Forgets the graph, for the sake of `why`. The graph goes to the caller, who destroys it with
  /// no mutex locked.
  CapturedGraph take(MissReason why, std::string about);

 private:
  friend class GraphShelf;
  // Guarded by the shelf.
  bool kept_ = false;
  std::uint64_t bytes_ = 0, last_use_ = 0;
};

/// Thread-safe. An entry's mutex may be locked when a member is called, never the other way round.
class GraphShelf {
 public:
  explicit GraphShelf(const GraphCacheOptions& options);
  const GraphCacheOptions& options() const { return options_; }

  /// Makes one if there is none, and counts as a use of the key.
  std::shared_ptr<KeyEntry> entry(const GraphKey& key);
  /// Null if there is none.
  std::shared_ptr<KeyEntry> find(const GraphKey& key) const;
  std::vector<std::shared_ptr<KeyEntry>> all() const;

  /// A graph that had to make room.
  struct Evicted {
    GraphKey key;
    CapturedGraph graph;
    std::string_view reason;  // "count" or "bytes": the bound that was reached
  };
  /// Makes room for the graph of `entry`, whose mutex the caller holds. Graphs that are in use
  /// stay. False if there is not enough room; then all others stay too.
  bool make_room(KeyEntry& entry, std::uint64_t bytes, std::vector<Evicted>& evicted);
  /// The entry, whose mutex the caller holds, has no graph any more.
  void drop(KeyEntry& entry);

  struct Totals {
    std::size_t graphs = 0;
    std::uint64_t bytes = 0;
  };
  Totals totals() const;

 private:
  struct Candidate {
    std::shared_ptr<KeyEntry> entry;
    std::unique_lock<std::mutex> lock;
  };
  std::vector<Candidate> least_used_first(const KeyEntry& but) const;
  void account(KeyEntry& entry, bool kept, std::uint64_t bytes);
  void forget_old_keys();

  const GraphCacheOptions options_;
  mutable std::mutex mutex_;
  std::map<GraphKey, std::shared_ptr<KeyEntry>> entries_;
  Totals totals_;
  std::uint64_t uses_ = 0;
};

}  // namespace reprise
