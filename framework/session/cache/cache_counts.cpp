#include "framework/session/cache/cache_counts.h"

#include <algorithm>
#include <numeric>

namespace reprise {
namespace {

constexpr std::uint64_t kHitsPerRow = 1024;
constexpr std::size_t kKeysNamed = 4;

constexpr std::array<std::pair<const char*, std::uint64_t GraphCacheCounters::*>, 6> kEvents{
    {{"recorded", &GraphCacheCounters::recorded},
     {"evicted", &GraphCacheCounters::evicted},
     {"reset", &GraphCacheCounters::reset},
     {"stale", &GraphCacheCounters::stale},
     {"rejected", &GraphCacheCounters::rejected},
     {"failed", &GraphCacheCounters::failed}}};

}  // namespace

std::uint64_t GraphCacheCounters::missed() const {
  return std::accumulate(misses.begin(), misses.end(), std::uint64_t{0});
}

bool StormWatch::add(bool churned_now) {
  window_ = window_ << 1U | (churned_now ? 1U : 0U);
  if (churned() < kWindow / 4) {
    storm_ = false;
  }
  return churned() > kWindow / 2 && !std::exchange(storm_, true);
}

CacheCounts::CacheCounts(std::shared_ptr<ExecutorCore> core, const GraphCacheOptions& room)
    : core_(std::move(core)), room_(room) {}

CacheCounts::~CacheCounts() {
  const std::lock_guard lock(mutex_);
  tell_hits();
}

void CacheCounts::tell(const char* counter, std::string_view reason, const GraphKey& key) {
  tell_hits();
  if (SessionProfile* profile = core_->profile()) {
    profile->count(counter, reason, 1, key.json());
  }
}

void CacheCounts::tell_hits() {
  SessionProfile* profile = core_->profile();
  if (profile != nullptr && counters_.hits != hits_told_) {
    profile->count("hit", "", counters_.hits - std::exchange(hits_told_, counters_.hits), "");
  }
}

void CacheCounts::hit() {
  const std::lock_guard lock(mutex_);
  ++counters_.hits;
  watch(false, nullptr);
  if (counters_.hits - hits_told_ >= kHitsPerRow) {
    tell_hits();
  }
}

void CacheCounts::miss(const GraphKey& key, MissReason reason, bool churned) {
  const std::lock_guard lock(mutex_);
  ++counters_.misses[static_cast<std::size_t>(reason)];
  tell("miss", name_of(reason), key);
  watch(churned, &key);
}

void CacheCounts::event(CacheEvent what, const GraphKey& key, std::string_view reason) {
  const std::lock_guard lock(mutex_);
  const auto [name, counter] = kEvents[static_cast<std::size_t>(what)];
  ++(counters_.*counter);
  tell(name, reason, key);
}

GraphCacheCounters CacheCounts::get() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

void CacheCounts::watch(bool churned, const GraphKey* key) {
  if (churned && std::ranges::count(churned_keys_, key->text()) == 0) {
    churned_keys_.push_back(key->text());
    if (churned_keys_.size() > kKeysNamed) {
      churned_keys_.pop_front();
    }
  }
  if (!storm_.add(churned)) {
    return;
  }
  ++counters_.storms;
  std::string keys;
  for (const std::string& text : churned_keys_) {
    keys += (keys.empty() ? "" : "; ") + text;
  }
  core_->warn("graph cache", "recording_storm",
              "The graph cache records instead of replaying: (" + std::to_string(storm_.churned()) +
                  ") of the last " + std::to_string(StormWatch::kWindow) +
                  " runs recorded a key again or pushed another graph out. It has room for " +
                  std::to_string(room_.max_graphs) + " graphs and " +
                  std::to_string(room_.max_bytes) +
                  " bytes; use fewer buckets or give it more. The latest keys: " + keys + ".");
}

}  // namespace reprise
