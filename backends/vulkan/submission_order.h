// SubmissionOrder: where each submission in flight went, and up to which number all are complete.
// Submissions are numbered in the order of the calls, whichever queue they go to; a queue completes
// its own in that order, but two queues do not wait for each other.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "backends/vulkan/queue_kind.h"

namespace reprise::vulkan {

/// A ring that grows to the largest number in flight and then allocates nothing. Not thread-safe.
class SubmissionOrder {
 public:
  /// Makes room for the next add(), which then cannot fail.
  void reserve();
  /// The next submission, number submitted() + 1, goes to this queue.
  void add(QueueKind queue) noexcept;
  /// All that went to this queue are complete up to this number.
  void complete(QueueKind queue, std::uint64_t through) noexcept;

  std::uint64_t submitted() const { return submitted_; }
  /// The last one on this queue; 0 before the first.
  std::uint64_t submitted(QueueKind queue) const { return of(queue).submitted; }
  /// All up to this one are complete.
  std::uint64_t completed() const { return completed_; }
  /// What complete() was told last of this queue.
  std::uint64_t completed(QueueKind queue) const { return of(queue).completed; }
  bool in_flight(QueueKind queue) const { return completed(queue) < submitted(queue); }
  /// Empty for one that is complete with all before it. What was never submitted is taken for
  /// compute: whoever waits for it gets the same error as on a device with one queue.
  std::optional<QueueKind> queue_of(std::uint64_t submission) const;
  /// The last one on this queue that is not above `submission`; 0 if those are all complete.
  std::uint64_t last(QueueKind queue, std::uint64_t submission) const;

 private:
  struct Progress {
    std::uint64_t submitted = 0, completed = 0;
  };
  const Progress& of(QueueKind queue) const { return queues_[static_cast<std::size_t>(queue)]; }
  Progress& of(QueueKind queue) { return queues_[static_cast<std::size_t>(queue)]; }
  QueueKind at(std::uint64_t submission) const { return ring_[submission % ring_.size()]; }

  std::array<Progress, 2> queues_;
  std::vector<QueueKind> ring_ = std::vector<QueueKind>(64);  // from completed_ + 1 to submitted_
  std::uint64_t submitted_ = 0, completed_ = 0;
};

}  // namespace reprise::vulkan
