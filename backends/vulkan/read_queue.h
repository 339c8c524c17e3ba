// ReadQueue: copies to the host beside the work of the other queue. A second queue of its family,
// so buffers need no change of owner.
#pragma once
#include <cstdint>
#include <memory>

#include "backends/vulkan/buffer.h"
#include "backends/vulkan/command_pools.h"
#include "backends/vulkan/device.h"
#include "backends/vulkan/handle.h"

namespace reprise::vulkan {

/// Threads: one at a time.
class ReadQueue {
 public:
  ReadQueue(std::shared_ptr<Device> device, VkQueue queue);

  /// Copies bytes to a buffer that the host maps, and waits. What `written` was when it had that
  /// value is read; nothing writes the bytes meanwhile.
  /// Errors: device_lost, timeout.
  void copy(const VulkanBuffer& from, std::uint64_t offset, const VulkanBuffer& to,
            std::uint64_t bytes, VkSemaphore written, std::uint64_t value);

 private:
  void wait();

  std::shared_ptr<Device> device_;
  VkQueue queue_;
  SemaphoreHandle done_;
  std::uint64_t copies_ = 0;
  std::unique_ptr<CommandPool> pool_;  // after a timeout the device may use it: it is leaked
};

}  // namespace reprise::vulkan
