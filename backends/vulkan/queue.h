// Submission and waiting, on one queue or on two. With a queue for transfers, uses of one buffer
// still run in the order of their submissions, whichever queue they go to: a submission waits on
// the device for the last one in flight on the other queue that uses one of its buffers. Everything
// else overlaps. So of two uses of a buffer the later one is complete only after the earlier one.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "backends/vulkan/device.h"
#include "backends/vulkan/host_signal.h"
#include "backends/vulkan/submission_order.h"
#include "backends/vulkan/timeline.h"
#include "reprise/core/in_flight.h"

namespace reprise::vulkan {

/// All members may be called concurrently.
class Queue {
 public:
  explicit Queue(std::shared_ptr<Device> device);
  /// Waits for everything submitted; what a hung device still uses is leaked.
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  std::uint64_t submit(std::span<const EncodingRef> encodings);
  bool complete(std::uint64_t submission);
  void wait(std::uint64_t submission);
  bool complete_through(std::uint64_t submission);
  void wait_through(std::uint64_t submission);
  /// With two queues it may name one that is complete already, while one before it is not.
  std::uint64_t last_use(const Buffer& buffer, Access access);
  std::uint64_t last_submission();
  std::uint64_t completed() const { return completed_.load(std::memory_order_acquire); }
  void shutdown();
  void free(const std::shared_ptr<Buffer>& buffer);
  std::uint64_t free_count() const { return in_flight_->free_count(); }
  void release_freed();

 private:
  /// A submission that begins once the host raised its signal to that value.
  struct BehindHost {
    std::uint64_t before, submission;  // before: the one before it on its queue
    VulkanHostSignal* signal;          // its encoding keeps it
    std::uint64_t value;
  };
  /// By QueueKind.
  using Counters = std::array<std::uint64_t, 2>;

  Timeline& of(QueueKind queue) {
    return transfer_ != nullptr && queue == QueueKind::transfer ? *transfer_ : compute_;
  }
  /// The queue of a submission that may be in flight; empty if it is known to be complete.
  std::optional<QueueKind> queue_of(std::uint64_t submission);
  /// Fills commands_; throws invalid_argument for what cannot be one submission.
  QueueKind collect(std::span<const EncodingRef> encodings);
  /// The submission on the other queue that a new one has to be after; 0 if it is already.
  std::uint64_t needed_of_other(QueueKind queue, std::span<const EncodingRef> encodings) const;
  /// A queue is through with its submissions up to this one: lets go of what is not used any more.
  void retire(QueueKind queue, std::uint64_t through);
  /// Notes that, looks how far the other queue is, and returns up to where all are complete.
  std::uint64_t note(QueueKind queue, std::uint64_t through);
  Counters counters();
  /// The device cannot go on to the submission before the host does.
  bool waits_for_host(std::uint64_t submission, std::uint64_t completed);

  std::shared_ptr<Device> device_;
  Timeline compute_;
  std::unique_ptr<Timeline> transfer_;       // null if the device has no queue for it
  std::atomic<std::uint64_t> completed_{0};  // known to be complete, with all before it
  std::mutex mutex_;                         // guards what follows
  std::uint64_t submitted_ = 0;
  SubmissionOrder order_;  // of two queues
  Counters after_{};       // what is submitted to a queue is after the other one up to here
  std::vector<VkCommandBufferSubmitInfo> commands_;
  std::vector<BehindHost> behind_host_;  // in flight
  std::unique_ptr<InFlight> in_flight_ = std::make_unique<InFlight>();
};

}  // namespace reprise::vulkan
