// ReadQueue: copies to the host beside the work of the other queue. A second queue of its family,
// so buffers need no change of owner.
#pragma once
#include <cstdint>
#include <memory>

#include "backends/vulkan/buffer.h"
#include "backends/vulkan/command_pools.h"
#include "backends/vulkan/device.h"
#include "backends/vulkan/timeline.h"

namespace reprise::vulkan {

/// Threads: one at a time.
class ReadQueue {
 public:
  /// What the device uses until a copy ends.
  struct Copy {
    std::shared_ptr<const VulkanBuffer> from, to;
    std::unique_ptr<CommandPool> pool{};  // null: there is none
  };

  ReadQueue(std::shared_ptr<Device> device, VkQueue queue);

  /// Copies bytes to a buffer that the host maps, and waits. What `written` was when it had that
  /// value is read; nothing writes the bytes meanwhile. Nothing is pending().
  /// Errors: device_lost, timeout. Afterwards the copy may be pending.
  void copy(Copy of, std::uint64_t offset, std::uint64_t bytes, VkSemaphore written,
            std::uint64_t value);
  /// Returns whether the device may still run a copy whose wait failed. What one used that ended
  /// since goes into `ended`, for the caller to let go of.
  bool pending(Copy& ended) noexcept;
  /// Waits for what is pending.
  /// Errors: device_lost, timeout.
  void wait();

 private:
  std::shared_ptr<Device> device_;
  VkQueue queue_;
  Timeline done_;
  std::uint64_t copies_ = 0;
  Copy copy_;  // the last one, while it may run
};

}  // namespace reprise::vulkan
