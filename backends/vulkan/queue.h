// Submission and waiting. Submissions run one after another, in the order of the calls.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "backends/vulkan/device.h"
#include "backends/vulkan/host_signal.h"
#include "backends/vulkan/read_queue.h"
#include "backends/vulkan/timeline.h"
#include "reprise/backend/in_flight.h"

namespace reprise::vulkan {

/// All members may be called concurrently.
class Queue {
 public:
  /// Copies aside run on `reads`; null: there are none.
  Queue(std::shared_ptr<Device> device, VkQueue reads);
  /// Waits for everything submitted; what a hung device still uses is leaked.
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  std::uint64_t submit(std::span<const EncodingRef> encodings);
  bool complete(std::uint64_t submission);
  void wait(std::uint64_t submission);
  std::uint64_t last_use(const Buffer& buffer, Access access);
  std::uint64_t last_submission() const { return submitted_.load(std::memory_order_acquire); }
  /// See Backend::copy_aside.
  bool copy_aside(const std::shared_ptr<const VulkanBuffer>& from, std::uint64_t offset,
                  const std::shared_ptr<const VulkanBuffer>& to, std::uint64_t bytes);
  std::uint64_t completed() const { return completed_.load(std::memory_order_acquire); }
  void shutdown();
  void free(const std::shared_ptr<Buffer>& buffer);
  std::uint64_t free_count() const { return in_flight_->free_count(); }
  void release_freed();

 private:
  /// A submission that begins once the host raised its signal to that value.
  struct BehindHost {
    std::uint64_t submission;
    VulkanHostSignal* signal;  // its encoding keeps it
    std::uint64_t value;
  };

  /// Fills commands_; throws invalid_argument for what cannot be one submission.
  void collect(std::span<const EncodingRef> encodings);
  /// Submissions are complete up to this one.
  void publish(std::uint64_t completed);
  using Lock = std::unique_lock<std::mutex>;
  /// Lets go of what complete submissions used, and of freed memory that nothing uses. Ends early
  /// without the lock: the next call goes on.
  void retire(Lock lock);
  /// A part of that. Unlocks; false if nothing is left.
  bool retire_some(Lock& lock);
  /// What an earlier call left, if nobody has the mutex.
  void retire_rest();
  /// The device cannot go on to the submission before the host does.
  bool waits_for_host(std::uint64_t submission, std::uint64_t completed);

  std::shared_ptr<Device> device_;
  Timeline timeline_;
  std::atomic<std::uint64_t> completed_{0};  // known to be complete, with all before it
  std::atomic<std::uint64_t> submitted_{0};  // written under the mutex, as the next
  std::atomic<std::uint64_t> retired_{0};    // what these and all before used was let go of
  std::mutex mutex_;                         // guards what follows; copies aside hold it
  std::vector<VkCommandBufferSubmitInfo> commands_;
  std::vector<BehindHost> behind_host_;  // in flight
  std::unique_ptr<ReadQueue> reads_;     // null: the device has one queue
  std::unique_ptr<InFlight> in_flight_ = std::make_unique<InFlight>();
};

}  // namespace reprise::vulkan
