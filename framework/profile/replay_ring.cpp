#include "framework/profile/replay_ring.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <type_traits>

namespace reprise::profile {
namespace {

static_assert(std::is_trivially_copyable_v<ReplayRecord> && alignof(ReplayRecord) <= 8);

constexpr std::uint64_t kNone = ~std::uint64_t{0};
constexpr std::uint64_t kMinBytes = 4096;

constexpr std::uint64_t whole_words(std::uint64_t bytes) { return (bytes + 7) / 8 * 8; }

/// A record in the ring: one word that publishes it, the replay, its state, its ticks.
constexpr std::uint64_t kStateAt = 8 + whole_words(sizeof(ReplayRecord));

std::uint64_t ticks_at(const ReplayRecord& record) {
  return kStateAt + whole_words(record.state.size_bytes());
}

}  // namespace

ReplayRing::ReplayRing(std::uint64_t bytes)
    : capacity_(whole_words(std::max(bytes, kMinBytes))),
      memory_(std::make_unique<std::byte[]>(capacity_)) {}  // zeroed, so its pages are there

void ReplayRing::push(const ReplayRecord& record) noexcept {
  const std::uint64_t header_bytes = ticks_at(record);
  std::uint64_t bytes = header_bytes + record.step_ticks.size_bytes();
  const bool timed = bytes != header_bytes;
  std::uint64_t position = reserve(bytes, timed ? capacity_ / 8 : 0);
  if (position == kNone && timed) {
    bytes = header_bytes;
    position = reserve(bytes, 0);
    // Counted either way: a replay that is dropped takes its step times along.
    timings_dropped_.fetch_add(1, std::memory_order_relaxed);
  }
  if (position == kNone) {
    replays_dropped_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  std::byte* const to = at(position);
  ReplayRecord copy = record;
  if (bytes == header_bytes) {
    copy.step_ticks = {};
  }
  std::memcpy(to + kWord, &copy, sizeof copy);
  if (!copy.state.empty()) {
    std::memcpy(to + kStateAt, copy.state.data(), copy.state.size_bytes());
  }
  if (!copy.step_ticks.empty()) {
    std::memcpy(to + header_bytes, copy.step_ticks.data(), copy.step_ticks.size_bytes());
  }
  pushed_.fetch_add(1, std::memory_order_relaxed);
  publish(position, bytes);
}

std::uint64_t ReplayRing::reserve(std::uint64_t bytes, std::uint64_t keep) noexcept {
  if (bytes > capacity_ - keep) {
    return kNone;
  }
  for (;;) {
    // The tail first: it may grow meanwhile, but never beyond a head that is read later.
    const std::uint64_t tail = tail_.load(std::memory_order_acquire);
    std::uint64_t head = head_.load(std::memory_order_relaxed);
    const std::uint64_t to_end = capacity_ - head % capacity_;
    const std::uint64_t padding = bytes > to_end ? to_end : 0;
    if (head + padding + bytes - tail > capacity_ - keep) {
      return kNone;
    }
    if (head_.compare_exchange_weak(head, head + padding + bytes, std::memory_order_acq_rel,
                                    std::memory_order_relaxed)) {
      if (padding != 0) {
        publish(head, padding | kPadding);
      }
      return head + padding;
    }
  }
}

void ReplayRing::publish(std::uint64_t position, std::uint64_t word) noexcept {
  std::atomic_ref(*reinterpret_cast<std::uint64_t*>(at(position)))
      .store(word, std::memory_order_release);
}

std::uint64_t ReplayRing::published(std::uint64_t position) const {
  const std::atomic_ref word(*reinterpret_cast<std::uint64_t*>(at(position)));
  for (;;) {
    if (const std::uint64_t value = word.load(std::memory_order_acquire)) {
      return value;
    }
    std::this_thread::yield();
  }
}

ReplayRecord* ReplayRing::view(std::uint64_t position) {
  std::byte* const from = at(position);
  auto* record = reinterpret_cast<ReplayRecord*>(from + kWord);
  // The sizes are right, the addresses are the producer's.
  record->state = {reinterpret_cast<const std::uint32_t*>(from + kStateAt), record->state.size()};
  record->step_ticks = {reinterpret_cast<const std::uint64_t*>(from + ticks_at(*record)),
                        record->step_ticks.size()};
  return record;
}

std::uint64_t ReplayRing::free(std::uint64_t position, std::uint64_t word) {
  const std::uint64_t bytes = word & ~kPadding;
  std::memset(at(position), 0, bytes);
  if ((word & kPadding) == 0) {
    taken_.fetch_add(1, std::memory_order_relaxed);
  }
  tail_.store(position + bytes, std::memory_order_release);
  return position + bytes;
}

std::uint64_t ReplayRing::pending_bytes() const {
  const std::uint64_t tail = tail_.load(std::memory_order_acquire);
  return head_.load(std::memory_order_acquire) - tail;
}

std::uint64_t ReplayRing::pending_replays() const {
  const std::uint64_t taken = taken_.load(std::memory_order_relaxed);
  const std::uint64_t pushed = pushed_.load(std::memory_order_relaxed);
  return pushed > taken ? pushed - taken : 0;
}

}  // namespace reprise::profile
