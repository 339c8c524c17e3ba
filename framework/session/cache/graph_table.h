// GraphTable: recordings under keys, within bounds. Says which one goes when another comes.
#pragma once
#include <map>
#include <memory>
#include <mutex>

#include "framework/graph/structure_hash.h"
#include "framework/session/executor/pass_mutex.h"
#include "framework/session/replay/recording.h"
#include "reprise/session/graph_cache.h"

namespace reprise {

/// Thread-safe. An entry may be locked when a member is called, never the other way round.
class GraphTable {
 public:
  struct Limits {
    std::size_t max_graphs = ~std::size_t{0};
    std::uint64_t max_bytes = ~std::uint64_t{0};
  };

  /// What is known of one key. Members are used by whoever holds its Lock.
  class Entry {
   public:
    explicit Entry(GraphKey k)
        : key(std::move(k)), mutex_("The pass of the key " + key.text() + " uses its own key.") {}
    /// Forgets the recording, for the sake of `reason`.
    std::shared_ptr<Recording> take(MissReason reason, std::string about);

    const GraphKey key;
    std::shared_ptr<Recording> recording;  // null: `miss` says why
    MissReason miss = MissReason::absent;
    std::string why;  // about the miss
    /// Of the last recording, unless it was reset or stale.
    std::optional<std::vector<NodeSignature>> nodes;
    std::vector<std::shared_ptr<const OpDef>> custom_ops;  // that `nodes` look at
    /// Recordings that the Lock lets go of once nothing is locked: they own functions of the
    /// caller.
    std::vector<std::shared_ptr<Recording>> ending;

   private:
    friend class GraphTable;
    PassMutex mutex_;
    // Guarded by the table.
    bool kept_ = false;
    std::uint64_t bytes_ = 0, last_use_ = 0;
  };

  /// Errors: invalid_argument in a pass that uses its own key.
  class Lock {
   public:
    explicit Lock(Entry& entry) : entry_(entry) { entry.mutex_.lock(); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    ~Lock();

   private:
    Entry& entry_;
  };

  explicit GraphTable(const Limits& limits) : limits_(limits) {}

  /// Makes one if there is none, and counts as a use of the key.
  std::shared_ptr<Entry> entry(const GraphKey& key);
  /// Null if there is none.
  std::shared_ptr<Entry> find(const GraphKey& key) const;
  std::vector<std::shared_ptr<Entry>> all() const;

  /// A recording that had to go.
  struct Gone {
    GraphKey key;
    std::shared_ptr<Recording> recording;
    std::string_view reason;  // "replaced", or the bound that was reached: "count" or "bytes"
  };
  /// Gives the entry, which the caller locked, this recording in place of the one it has. Others
  /// that are not in use make room for it. False if that is not enough: then they stay, and the
  /// entry has none.
  bool keep(Entry& entry, std::shared_ptr<Recording> recording, std::vector<Gone>& gone);
  /// The entry, which the caller locked, has no recording any more.
  void drop(Entry& entry);

  struct Totals {
    std::size_t graphs = 0;
    std::uint64_t bytes = 0;
  };
  Totals totals() const;

 private:
  struct Candidate {
    std::shared_ptr<Entry> entry;
    std::unique_lock<PassMutex> lock;
  };
  /// With the mutex locked.
  bool make_room(Entry& entry, std::uint64_t bytes, std::vector<Gone>& gone);
  std::vector<Candidate> least_used_first(const Entry& but) const;
  void account(Entry& entry, bool kept, std::uint64_t bytes);
  void forget_old_keys();

  const Limits limits_;
  mutable std::mutex mutex_;
  std::map<GraphKey, std::shared_ptr<Entry>> entries_;
  Totals totals_;
  std::uint64_t uses_ = 0;
};

}  // namespace reprise
