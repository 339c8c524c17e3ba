#include "backends/vulkan/host_signal.h"

namespace reprise::vulkan {

SemaphoreHandle timeline_semaphore(Device& device) {
  const VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, nullptr,
                                       VK_SEMAPHORE_TYPE_TIMELINE, 0};
  const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type, 0};
  VkSemaphore semaphore = VK_NULL_HANDLE;
  device.check(vkCreateSemaphore(device.get(), &info, nullptr, &semaphore), "vkCreateSemaphore");
  return {device.get(), semaphore};
}

VulkanHostSignal::VulkanHostSignal(std::shared_ptr<Device> device)
    : device_(std::move(device)), semaphore_(timeline_semaphore(*device_)) {}

void VulkanHostSignal::raise() {
  const std::uint64_t value = raised() + 1;
  const VkSemaphoreSignalInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, nullptr,
                                   semaphore_.get(), value};
  const VkResult result = vkSignalSemaphore(device_->get(), &info);
  broken_.store(result != VK_SUCCESS, std::memory_order_release);
  device_->check(result, "vkSignalSemaphore");
  raised_.store(value, std::memory_order_release);
}

}  // namespace reprise::vulkan
