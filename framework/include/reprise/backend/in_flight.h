// InFlight: the encodings a queue has to keep because the device may still run them. A ring that
// grows to the largest number in flight and then allocates nothing.
// Threads: not thread-safe; the queue guards it with its mutex.
#pragma once
#include <atomic>
#include <span>
#include <utility>
#include <vector>

#include "reprise/backend/backend.h"

namespace reprise {

class InFlight {
 public:
  /// Makes room for the next add() of these encodings, which then cannot fail.
  /// Errors: stale if one of them uses a freed buffer.
  void admit(std::span<const EncodingRef> encodings);
  /// `submission` grows from call to call.
  void add(std::uint64_t submission, std::span<const EncodingRef> encodings) noexcept;
  /// Hands over encodings kept up to and including `submission`, at most as many as fit. The caller
  /// releases them without the queue's mutex, because owners of imported memory run code of the
  /// user then.
  std::size_t take(std::uint64_t submission, std::span<EncodingRef> retired);
  /// Calls f(const Encoding&) for the encodings of one submission, in order.
  template <class F>
  void visit(std::uint64_t submission, F&& f) const {
    for (std::size_t i = 0; i < count_ && at(i).first <= submission; ++i) {
      if (at(i).first == submission) {
        f(*at(i).second);
      }
    }
  }
  /// Returns the last use: see Backend::last_use.
  std::uint64_t last_use(const Buffer& buffer, Access access) const;

  /// Marks a buffer as freed and keeps it for take_freed(): see Backend::free.
  void free(const std::shared_ptr<Buffer>& buffer);
  /// Returns a freed buffer that is neither in flight nor pinned; null if there is none. The caller
  /// releases its memory, without the queue's mutex.
  std::shared_ptr<Buffer> take_freed();
  /// Returns whether take_freed() may find one.
  /// Threads: any thread, without the mutex.
  bool has_freed() const { return has_freed_.load(); }
  /// Returns how often free() was called.
  /// Threads: as has_freed().
  std::uint64_t free_count() const { return free_count_.load(); }

 private:
  using Entry = std::pair<std::uint64_t, EncodingRef>;  // submission, encoding
  Entry& at(std::size_t i) { return ring_[(first_ + i) & (ring_.size() - 1)]; }
  const Entry& at(std::size_t i) const { return ring_[(first_ + i) & (ring_.size() - 1)]; }
  void grow();

  std::vector<Entry> ring_ = std::vector<Entry>(32);  // a power of two
  std::size_t first_ = 0, count_ = 0;
  std::vector<std::shared_ptr<Buffer>> freed_;  // their memory may still be in use
  std::atomic<bool> has_freed_{false};
  std::atomic<std::uint64_t> free_count_{0};
};

}  // namespace reprise
