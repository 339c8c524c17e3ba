// InFlight: the encodings a queue has to keep because the device may still run them. A ring that
// grows to the largest number in flight and then allocates nothing. Not thread-safe: the queue
// guards it with its mutex.
#pragma once
#include <atomic>
#include <span>
#include <vector>

#include "reprise/core/backend.h"

namespace reprise {

class InFlight {
 public:
  /// Before the next add() of these encodings, which then cannot fail: makes room. Throws stale if
  /// one of them uses a freed buffer.
  void admit(std::span<const EncodingRef> encodings);
  /// `submission` grows from call to call.
  void add(std::uint64_t submission, std::span<const EncodingRef> encodings) noexcept;
  /// Hands over what is kept up to and including `submission`, at most as much as fits. The caller
  /// lets go of it without the queue's mutex: owners of imported memory run code of the user then.
  std::size_t take(std::uint64_t submission, std::span<EncodingRef> retired);
  /// Calls f(const Encoding&) for the encodings of one submission, in order.
  template <class F>
  void visit(std::uint64_t submission, F&& f) const {
    for (std::size_t i = 0; i < count_ && at(i).submission <= submission; ++i) {
      if (at(i).submission == submission) {
        f(*at(i).encoding);
      }
    }
  }
  /// See Backend::last_use.
  std::uint64_t last_use(const Buffer& buffer, Access access) const;

  /// See Backend::free: marks it and keeps it for take_freed().
  void free(const std::shared_ptr<Buffer>& buffer);
  /// A freed buffer that nothing in flight uses and nobody pins any more; null if there is none.
  /// The caller releases its memory, without the queue's mutex.
  std::shared_ptr<Buffer> take_freed();
  /// Whether take_freed() may find one. From any thread, without the mutex.
  bool has_freed() const { return has_freed_.load(); }
  /// As has_freed().
  std::uint64_t free_count() const { return free_count_.load(); }

 private:
  struct Entry {
    std::uint64_t submission = 0;
    EncodingRef encoding;
  };
  Entry& at(std::size_t i) { return ring_[(first_ + i) % ring_.size()]; }
  const Entry& at(std::size_t i) const { return ring_[(first_ + i) % ring_.size()]; }
  void grow();

  std::vector<Entry> ring_ = std::vector<Entry>(32);
  std::size_t first_ = 0, count_ = 0;
  std::vector<std::shared_ptr<Buffer>> freed_;  // their memory may still be in use
  std::atomic<bool> has_freed_{false};
  std::atomic<std::uint64_t> free_count_{0};
};

}  // namespace reprise
