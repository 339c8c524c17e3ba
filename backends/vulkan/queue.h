// Submission and waiting: one queue with one timeline semaphore, whose value is the number of the
// last completed submission.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "backends/vulkan/device.h"
#include "backends/vulkan/handle.h"
#include "reprise/core/backend.h"

namespace reprise::vulkan {

/// All members may be called concurrently.
class Queue {
 public:
  explicit Queue(std::shared_ptr<Device> device);
  std::uint64_t submit(std::span<const Encoding* const> encodings);
  void wait(std::uint64_t submission);

 private:
  /// Waits a bounded time; true if the value is reached, else `counter` is how far the device is.
  bool poll(std::uint64_t submission, std::uint64_t timeout_ns, std::uint64_t& counter);

  std::shared_ptr<Device> device_;
  SemaphoreHandle timeline_;
  std::mutex mutex_;
  std::uint64_t submitted_ = 0;                      // guarded by mutex_
  std::vector<VkCommandBufferSubmitInfo> commands_;  // guarded by mutex_
};

}  // namespace reprise::vulkan
