#include "backends/vulkan/timeline.h"

#include "backends/vulkan/host_signal.h"

namespace reprise::vulkan {

Timeline::Timeline(std::shared_ptr<Device> device)
    : device_(std::move(device)), semaphore_(timeline_semaphore(*device_)) {}

void Timeline::submit(const VkSubmitInfo2& info) {
  device_->check(vkQueueSubmit2(device_->queue(), 1, &info, VK_NULL_HANDLE), "vkQueueSubmit2");
}

std::uint64_t Timeline::counter() const {
  std::uint64_t value = 0;
  device_->check(vkGetSemaphoreCounterValue(device_->get(), get(), &value),
                 "vkGetSemaphoreCounterValue");
  return value;
}

bool Timeline::wait(std::uint64_t submission, std::uint64_t timeout_ns) const {
  const VkSemaphore semaphore = get();
  VkSemaphoreWaitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
  info.semaphoreCount = 1;
  info.pSemaphores = &semaphore;
  info.pValues = &submission;
  const VkResult result = vkWaitSemaphores(device_->get(), &info, timeout_ns);
  if (result == VK_TIMEOUT) {
    return false;
  }
  device_->check(result, "vkWaitSemaphores");
  return true;
}

}  // namespace reprise::vulkan
