// The hand-over of replays from the threads that complete them to the writer thread: a ring of
// bytes allocated once, any number of producers, one consumer. A producer reserves its bytes by
// moving head_ and publishes them by the first word of the record, so that the consumer takes
// records in the order of their reservation. Bytes that are not reserved are zero: the consumer
// clears what it took, and a record that is reserved but not published reads as zero.
#pragma once
#include <atomic>
#include <memory>

#include "framework/profile/profile_sink.h"

namespace reprise::profile {

class ReplayRing {
 public:
  /// `bytes` is rounded up to whole words and to the least that holds a few replays.
  explicit ReplayRing(std::uint64_t bytes);
  ReplayRing(const ReplayRing&) = delete;
  ReplayRing& operator=(const ReplayRing&) = delete;

  /// Any thread. Lock-free; allocates nothing and makes no system call. The last eighth of the ring
  /// is for replays without step times: those of a replay are dropped first, then the replay.
  void push(const ReplayRecord& record) noexcept;

  /// What was reserved so far: a place up to which take() may go.
  std::uint64_t head() const { return head_.load(std::memory_order_acquire); }
  /// The consumer only. Calls f(const ReplayRecord&) with the next replay before `limit`, whose
  /// spans lie in the ring, and frees it afterwards. False, and no call, at the limit. Waits for a
  /// record that is being copied: its producer needs nothing but time for that.
  template <class F>
  bool take(std::uint64_t limit, F&& f) {
    std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    std::uint64_t word = 0;
    while (tail != limit && ((word = published(tail)) & kPadding) != 0) {
      tail = free(tail, word);
    }
    if (tail == limit) {
      return false;
    }
    f(std::as_const(*view(tail)));
    free(tail, word);
    return true;
  }

  /// The consumer only: nothing is left before `limit`.
  bool empty(std::uint64_t limit) const { return tail_.load(std::memory_order_relaxed) == limit; }

  /// Bytes that wait, padding included, and replays that wait; any thread.
  std::uint64_t pending_bytes() const;
  std::uint64_t pending_replays() const;
  std::uint64_t replays_dropped() const { return replays_dropped_; }
  std::uint64_t timings_dropped() const { return timings_dropped_; }
  std::uint64_t capacity() const { return capacity_; }

 private:
  static constexpr std::uint64_t kWord = 8;
  static constexpr std::uint64_t kPadding = 1;  // in the first word, beside its size in bytes
  /// Where `bytes` were reserved, or kNone if they would leave less than `keep` free.
  std::uint64_t reserve(std::uint64_t bytes, std::uint64_t keep) noexcept;
  void publish(std::uint64_t position, std::uint64_t word) noexcept;
  std::uint64_t published(std::uint64_t position) const;
  ReplayRecord* view(std::uint64_t position);
  std::uint64_t free(std::uint64_t position, std::uint64_t word);
  std::byte* at(std::uint64_t position) const { return memory_.get() + position % capacity_; }

  const std::uint64_t capacity_;
  const std::unique_ptr<std::byte[]> memory_;
  // On cache lines of their own: producers share one, the consumer writes the other.
  alignas(64) std::atomic<std::uint64_t> head_{0};
  std::atomic<std::uint64_t> pushed_{0}, replays_dropped_{0}, timings_dropped_{0};
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  std::atomic<std::uint64_t> taken_{0};
};

}  // namespace reprise::profile
