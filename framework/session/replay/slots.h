// Slots: those of a recording. One that is held is its ticket's, which may be on another thread.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "framework/session/replay/slot.h"

namespace reprise {

class Slots {
 public:
  void add(std::unique_ptr<Slot> slot) { slots_.push_back(std::move(slot)); }
  /// Reserves the first idle one, which is the one most recently in the caches, else waits for the
  /// oldest in flight. Null only if it may not wait and would have to.
  /// Errors: busy if tickets hold all.
  Slot* acquire(bool may_wait);
  /// Waits until there is one that no ticket holds. Returns false after `timeout`.
  bool wait(std::chrono::nanoseconds timeout);
  /// A ticket let go of one. Threads: any.
  void released() noexcept;

  std::span<const std::unique_ptr<Slot>> all() const { return slots_; }
  std::size_t count() const { return slots_.size(); }
  /// One is reserved or held, or its submission is in flight.
  bool in_use() const;
  /// Waits for what released ones have in flight.
  void reclaim() noexcept;

 private:
  std::vector<std::unique_ptr<Slot>> slots_;
  std::mutex mutex_;
  std::condition_variable released_;
  // Sequentially consistent, as Slot::release() and phase() are: who lets go sees who waits, or is
  // seen by that one.
  std::atomic<std::uint32_t> waiting_{0};
};

}  // namespace reprise
