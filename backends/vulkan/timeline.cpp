#include "backends/vulkan/timeline.h"

#include "backends/vulkan/host_signal.h"

namespace reprise::vulkan {

Timeline::Timeline(std::shared_ptr<Device> device, QueueKind queue)
    : device_(std::move(device)),
      queue_(device_->queue(queue)),
      semaphore_(timeline_semaphore(*device_)) {}

void Timeline::submit(const VkSubmitInfo2& info, std::uint64_t value) {
  // Other queues may have gone far ahead while this one was idle. One that is still at work stays
  // as it is: nothing may be raised past what it is about to reach.
  const std::uint64_t limit = device_->physical().properties12.maxTimelineSemaphoreValueDifference;
  if (value - last_ > limit && counter() == last_) {
    raise_between(last_, value, limit, [&](std::uint64_t step) {
      const VkSemaphoreSignalInfo raised{VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, nullptr, get(),
                                         step};
      device_->check(vkSignalSemaphore(device_->get(), &raised), "vkSignalSemaphore");
      last_ = step;
    });
  }
  device_->check(vkQueueSubmit2(queue_, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit2");
  last_ = value;
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
