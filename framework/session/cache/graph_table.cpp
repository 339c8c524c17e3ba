#include "framework/session/cache/graph_table.h"

#include <algorithm>

namespace reprise {
namespace {

// Keys without a recording whose failures and structures are remembered: a node of them takes 40
// bytes.
constexpr std::size_t kMaxKeys = 1024;
constexpr std::size_t kMaxNodes = std::size_t{1} << 18U;

std::size_t node_count(const GraphTable::Entry& entry) {
  return entry.nodes ? entry.nodes->size() : 0;
}

}  // namespace

std::shared_ptr<Recording> GraphTable::Entry::take(MissReason reason, std::string about) {
  miss = reason;
  why = std::move(about);
  return std::exchange(recording, nullptr);
}

GraphTable::Lock::~Lock() {
  const auto ending = std::exchange(entry_.ending, {});
  entry_.mutex_.unlock();
}

std::shared_ptr<GraphTable::Entry> GraphTable::entry(const GraphKey& key) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Entry>& entry = entries_[key];
  if (entry == nullptr) {
    entry = std::make_shared<Entry>(key);
  }
  entry->last_use_ = ++uses_;
  return entry;
}

std::shared_ptr<GraphTable::Entry> GraphTable::find(const GraphKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto it = entries_.find(key);
  return it == entries_.end() ? nullptr : it->second;
}

std::vector<std::shared_ptr<GraphTable::Entry>> GraphTable::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Entry>> list;
  for (const auto& [key, entry] : entries_) {
    list.push_back(entry);
  }
  return list;
}

GraphTable::Totals GraphTable::totals() const {
  const std::lock_guard lock(mutex_);
  return totals_;
}

void GraphTable::account(Entry& entry, bool kept, std::uint64_t bytes) {
  totals_.graphs = totals_.graphs - (entry.kept_ ? 1U : 0U) + (kept ? 1U : 0U);
  totals_.bytes = totals_.bytes - entry.bytes_ + bytes;
  entry.kept_ = kept;
  entry.bytes_ = bytes;
}

void GraphTable::drop(Entry& entry) {
  const std::lock_guard lock(mutex_);
  account(entry, false, 0);
}

bool GraphTable::keep(Entry& entry, std::shared_ptr<Recording> recording, std::vector<Gone>& gone) {
  if (entry.recording) {
    gone.push_back({entry.key, entry.take(MissReason::rejected, ""), "replaced"});
  }
  const std::uint64_t bytes = recording->bytes();
  const std::lock_guard lock(mutex_);
  account(entry, false, 0);
  if (!make_room(entry, bytes, gone)) {
    entry.take(MissReason::rejected, "Its graph (" + std::to_string(bytes) +
                                         " bytes) found no room beside those that are in use.");
    return false;
  }
  account(entry, true, bytes);
  entry.take(MissReason::none, "");
  entry.recording = std::move(recording);
  forget_old_keys();
  return true;
}

/// Those that can go: nobody records or launches them, no slot of theirs is in use.
std::vector<GraphTable::Candidate> GraphTable::least_used_first(const Entry& but) const {
  std::vector<Candidate> candidates;
  for (const auto& [key, entry] : entries_) {
    if (entry->kept_ && entry.get() != &but) {
      std::unique_lock lock(entry->mutex_, std::try_to_lock);
      if (lock.owns_lock() && !entry->recording->slots().in_use()) {
        candidates.push_back({entry, std::move(lock)});
      }
    }
  }
  std::ranges::sort(candidates, {}, [](const Candidate& c) { return c.entry->last_use_; });
  return candidates;
}

bool GraphTable::make_room(Entry& entry, std::uint64_t bytes, std::vector<Gone>& gone) {
  if (bytes > limits_.max_bytes) {
    return false;
  }
  const auto too_many = [&](const Totals& t) { return t.graphs >= limits_.max_graphs; };
  const auto too_large = [&](const Totals& t) { return t.bytes > limits_.max_bytes - bytes; };
  if (!too_many(totals_) && !too_large(totals_)) {
    return true;
  }
  const std::vector<Candidate> candidates = least_used_first(entry);
  std::size_t going = 0;
  for (Totals left = totals_; too_many(left) || too_large(left); ++going) {
    if (going == candidates.size()) {
      return false;
    }
    --left.graphs;
    left.bytes -= candidates[going].entry->bytes_;
  }
  for (std::size_t i = 0; i < going; ++i) {
    Entry& victim = *candidates[i].entry;
    const std::string_view reason = too_many(totals_) ? "count" : "bytes";
    account(victim, false, 0);
    gone.push_back(
        {victim.key, victim.take(MissReason::evicted, "Its graph made room for others."), reason});
  }
  return true;
}

void GraphTable::forget_old_keys() {
  std::vector<std::shared_ptr<Entry>> old;
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
