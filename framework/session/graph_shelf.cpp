#include "framework/session/graph_shelf.h"

#include <algorithm>

namespace reprise {
namespace {

// Keys without a graph whose failures and structures are remembered: a node of them takes 40 bytes.
constexpr std::size_t kMaxKeys = 1024;
constexpr std::size_t kMaxNodes = std::size_t{1} << 18U;

std::size_t node_count(const KeyEntry& entry) { return entry.nodes ? entry.nodes->size() : 0; }

}  // namespace

CapturedGraph KeyEntry::take(MissReason why, std::string about) {
  miss = why;
  text = std::move(about);
  state = StateBlock();
  return std::exchange(graph, CapturedGraph());
}

GraphShelf::GraphShelf(const GraphCacheOptions& options) : options_(options) {
  if (options_.max_graphs == 0) {
    throw_invalid_argument("A graph cache has room for at least 1 graph, but max_graphs is (0).");
  }
  if (!options_.finish.run) {
    throw_invalid_argument(
        "A graph cache runs its graphs by key, but finish.run of its options is (false).");
  }
}

std::shared_ptr<KeyEntry> GraphShelf::entry(const GraphKey& key) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<KeyEntry>& entry = entries_[key];
  if (entry == nullptr) {
    entry = std::make_shared<KeyEntry>(key);
  }
  entry->last_use_ = ++uses_;
  return entry;
}

std::shared_ptr<KeyEntry> GraphShelf::find(const GraphKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto it = entries_.find(key);
  return it == entries_.end() ? nullptr : it->second;
}

std::vector<std::shared_ptr<KeyEntry>> GraphShelf::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<KeyEntry>> list;
  for (const auto& [key, entry] : entries_) {
    list.push_back(entry);
  }
  return list;
}

GraphShelf::Totals GraphShelf::totals() const {
  const std::lock_guard lock(mutex_);
  return totals_;
}

void GraphShelf::account(KeyEntry& entry, bool kept, std::uint64_t bytes) {
  totals_.graphs = totals_.graphs - (entry.kept_ ? 1U : 0U) + (kept ? 1U : 0U);
  totals_.bytes = totals_.bytes - entry.bytes_ + bytes;
  entry.kept_ = kept;
  entry.bytes_ = bytes;
}

void GraphShelf::drop(KeyEntry& entry) {
  const std::lock_guard lock(mutex_);
  account(entry, false, 0);
}

/// Those that can go: nobody records or launches them, no slot of theirs is in use.
std::vector<GraphShelf::Candidate> GraphShelf::least_used_first(const KeyEntry& but) const {
  std::vector<Candidate> candidates;
  for (const auto& [key, entry] : entries_) {
    if (entry->kept_ && entry.get() != &but) {
      std::unique_lock lock(entry->mutex, std::try_to_lock);
      if (lock.owns_lock() && !entry->graph.in_use()) {
        candidates.push_back({entry, std::move(lock)});
      }
    }
  }
  std::ranges::sort(candidates, {}, [](const Candidate& c) { return c.entry->last_use_; });
  return candidates;
}

bool GraphShelf::make_room(KeyEntry& entry, std::uint64_t bytes, std::vector<Evicted>& evicted) {
  const std::lock_guard lock(mutex_);
  account(entry, false, 0);
  if (bytes > options_.max_bytes) {
    return false;
  }
  const auto too_many = [&](const Totals& t) { return t.graphs + 1 > options_.max_graphs; };
  const auto too_large = [&](const Totals& t) { return t.bytes + bytes > options_.max_bytes; };
  std::vector<Candidate> candidates;
  std::size_t going = 0;
  if (too_many(totals_) || too_large(totals_)) {
    candidates = least_used_first(entry);
    Totals left = totals_;
    while (too_many(left) || too_large(left)) {
      if (going == candidates.size()) {
        return false;
      }
      --left.graphs;
      left.bytes -= candidates[going++].entry->bytes_;
    }
  }
  for (std::size_t i = 0; i < going; ++i) {
    KeyEntry& victim = *candidates[i].entry;
    const std::string_view reason = too_many(totals_) ? "count" : "bytes";
    account(victim, false, 0);
    evicted.push_back(
        {victim.key, victim.take(MissReason::evicted, "Its graph made room for others."), reason});
  }
  account(entry, true, bytes);
  candidates.clear();  // what may be forgotten must not be locked
  forget_old_keys();
  return true;
}

void GraphShelf::forget_old_keys() {
  std::vector<std::shared_ptr<KeyEntry>> old;
  std::size_t nodes = 0;
  for (const auto& [key, entry] : entries_) {
    if (!entry->kept_ && entry.use_count() == 1) {  // nobody else has it, nobody can lock it
      old.push_back(entry);
      nodes += node_count(*entry);
    }
  }
  std::ranges::sort(old, {}, [](const auto& entry) { return entry->last_use_; });
  for (std::size_t i = 0; i < old.size() && (old.size() - i > kMaxKeys || nodes > kMaxNodes); ++i) {
    nodes -= node_count(*old[i]);
    entries_.erase(old[i]->key);
  }
}

}  // namespace reprise
