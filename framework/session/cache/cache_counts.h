// CacheCounts: what a graph cache did, for its user and for the profiling database, and the warning
// when it records again and again.
#pragma once
#include <bit>
#include <deque>
#include <mutex>

#include "framework/session/executor/executor_core.h"
#include "reprise/session/graph_cache.h"

namespace reprise {

/// Says when a storm begins: more than half of the last lookups recorded a graph that was known
/// before or pushed another one out. It ends when less than a quarter did. Not thread-safe.
class StormWatch {
 public:
  static constexpr int kWindow = 32;
  /// True once per storm, when it begins.
  bool add(bool churned);
  int churned() const { return std::popcount(window_); }

 private:
  std::uint32_t window_ = 0;  // a bit per lookup
  bool storm_ = false;
};

/// What may become of the graph of a key.
enum class CacheEvent : std::uint8_t { recorded, evicted, reset, stale, rejected, failed };

/// Thread-safe. Hits reach the database with the next event that is none, every 1,024 of them, and
/// at the end.
class CacheCounts {
 public:
  CacheCounts(std::shared_ptr<ExecutorCore> core, const GraphCacheOptions& room);
  CacheCounts(const CacheCounts&) = delete;
  CacheCounts& operator=(const CacheCounts&) = delete;
  ~CacheCounts();

  void hit();
  /// `churned`: the miss recorded a key that had a graph before, or pushed another graph out.
  void miss(const GraphKey& key, MissReason reason, bool churned);
  /// `reason`: for the database.
  void event(CacheEvent what, const GraphKey& key, std::string_view reason = "");
  GraphCacheCounters get() const;

 private:
  /// With the mutex locked.
  void tell(const char* counter, std::string_view reason, const GraphKey& key);
  void tell_hits();
  void watch(bool churned, const GraphKey* key);

  std::shared_ptr<ExecutorCore> core_;
  const GraphCacheOptions room_;
  mutable std::mutex mutex_;
  GraphCacheCounters counters_;
  std::uint64_t hits_told_ = 0;
  StormWatch storm_;
  std::deque<std::string> churned_keys_;  // the latest few
};

}  // namespace reprise
