// A semaphore that the host signals and submissions wait for.
#pragma once
#include <atomic>
#include <memory>

#include "backends/vulkan/device.h"
#include "backends/vulkan/handle.h"
#include "reprise/backend/backend.h"

namespace reprise::vulkan {

/// At 0.
SemaphoreHandle timeline_semaphore(Device& device);

class VulkanHostSignal final : public HostSignal {
 public:
  explicit VulkanHostSignal(std::shared_ptr<Device> device);
  const Device& device() const { return *device_; }
  VkSemaphore get() const { return semaphore_.get(); }
  std::uint64_t raised() const { return raised_.load(std::memory_order_acquire); }
  void raise();
  /// It could not be raised: nothing will, and who waits behind it may give up.
  bool broken() const { return broken_.load(std::memory_order_acquire); }
  /// For the queue, which guards it with its mutex: submissions that wait or waited.
  std::uint64_t awaited = 0;

 private:
  std::shared_ptr<Device> device_;
  SemaphoreHandle semaphore_;
  std::atomic<std::uint64_t> raised_{0};
  std::atomic<bool> broken_{false};
};

}  // namespace reprise::vulkan
