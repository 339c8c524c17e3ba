#include "backends/vulkan/read_queue.h"

#include <chrono>
#include <utility>

#include "backends/vulkan/barriers.h"
#include "reprise/core/error.h"

namespace reprise::vulkan {

ReadQueue::ReadQueue(std::shared_ptr<Device> device, VkQueue queue)
    : device_(std::move(device)), queue_(queue), done_(device_) {}

void ReadQueue::copy(Copy of, std::uint64_t offset, std::uint64_t bytes, VkSemaphore written,
                     std::uint64_t value) {
  of.pool = device_->command_pools().take(*device_);
  const VkCommandBuffer recorded = of.pool->commands();
  VkCommandBufferBeginInfo begin{};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  device_->check(vkBeginCommandBuffer(recorded, &begin), "vkBeginCommandBuffer");
  opening_barrier(recorded, false);
  const VkBufferCopy region{offset, 0, bytes};
  vkCmdCopyBuffer(recorded, of.from->get(), of.to->get(), 1, &region);
  host_barrier(recorded);
  device_->check(vkEndCommandBuffer(recorded), "vkEndCommandBuffer");
  const VkCommandBufferSubmitInfo commands{VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, nullptr,
                                           recorded, 0};
  // The value is there already: waiting for it makes what was written visible to this queue.
  VkSemaphoreSubmitInfo after{};
  after.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
  after.semaphore = written;
  after.value = value;
  after.stageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
  VkSemaphoreSubmitInfo signal = after;
  signal.semaphore = done_.get();
  signal.value = copies_ + 1;
  signal.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  VkSubmitInfo2 info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
  info.waitSemaphoreInfoCount = 1;
  info.pWaitSemaphoreInfos = &after;
  info.commandBufferInfoCount = 1;
  info.pCommandBufferInfos = &commands;
  info.signalSemaphoreInfoCount = 1;
  info.pSignalSemaphoreInfos = &signal;
  device_->check(vkQueueSubmit2(queue_, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit2");
  ++copies_;
  copy_ = std::move(of);  // if the wait fails, the device still uses it
  wait();
  device_->command_pools().give(std::move(copy_.pool));
  copy_ = {};
}

bool ReadQueue::pending(Copy& ended) noexcept {
  std::uint64_t done = 0;
  if (copy_.pool != nullptr &&
      vkGetSemaphoreCounterValue(device_->get(), done_.get(), &done) == VK_SUCCESS &&
      done >= copies_) {
    ended = std::exchange(copy_, {});
  }
  return copy_.pool != nullptr;
}

void ReadQueue::wait() {
  if (copy_.pool == nullptr) {
    return;
  }
  const auto hang = std::chrono::nanoseconds(device_->hang_timeout()).count();
  if (!done_.wait(copies_, static_cast<std::uint64_t>(hang))) {
    throw_error(ErrorCode::timeout, "A copy to the host does not end within ",
                device_->hang_timeout().count(), " ms.");
  }
}

}  // namespace reprise::vulkan
